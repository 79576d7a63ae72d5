import Foundation
import PurchaseAPI
import PurchaseVerification

/// What a customer may have next: the introductory, promotional and win-back offers of the app, with the reason.
public struct OffersOfCustomer: LedgerQuery {
    public static let access = LedgerReadAccess.lists
    /// The most subscriptions that are read, the newest.
    private static let subscriptions = 1000

    public var app: String
    public var customerID: String

    /// The offers for a customer.
    public init(app: String, customerID: String) {
        self.app = app
        self.customerID = customerID
    }

    /// The offers, and the customer into whom the named one was merged; `nil` if they were not.
    public struct Answer: Sendable {
        public var offers: [CustomerOffer]
        public var mergedInto: String?
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        let rules = app.settings.offers
        let customer = try reader.customer(customerID, app)
        let owned = try customer.map { try CustomerSubscription.all(of: $0, app, reader) } ?? []
        var (subscriptions, signed): ([CustomerOffer.Subscription], [String: [Timestamp]]) = ([], [:])
        if let customer {
            let active = Set(owned.filter { $0.seat == nil && $0.isActive }.map(\.originalKey))
            subscriptions = try self.subscriptions(of: customer, active: active, app, reader)
            let table = OfferSignaturesTable(connection: reader.connection)
            for id in rules.promotional.keys {
                signed[id] = try table.times(
                    id, [.promotional, .promotionalV1], of: customer.key, limit: SignOffer.mostCounted)
            }
            signed[""] = try table.times(
                "", [.introductoryEligibility], of: customer.key, limit: SignOffer.mostCounted)
        }
        var products = Set(app.settings.products.filter { $0.value.kind == .autoRenewable }.map { ExactText($0.key) })
        products.formUnion(subscriptions.map { ExactText($0.productID) })
        let offers = CustomerOffer.all(
            rules, products: products.sorted().map(\.string),
            groups: app.settings.products.compactMapValues(\.group), subscriptions: subscriptions,
            audience: OfferAudience(of: owned), signed: signed, at: reader.now)
        return Answer(offers: offers, mergedInto: customer?.survivor(of: customerID))
    }

    /// The subscriptions that the customer bought, in the environments that count for them.
    ///
    /// - Parameter active: the originals that give access.
    private func subscriptions(
        of customer: CustomerRow, active: Set<Int64>, _ app: RegistryApp, _ reader: LedgerTransaction
    ) throws -> [CustomerOffer.Subscription] {
        let originals = try reader.transactions.subscriptions(of: customer.key).suffix(Self.subscriptions)
        guard !originals.isEmpty else { return [] }
        let rows = Dictionary(grouping: try reader.transactions.rows(ofOriginals: Array(originals)), by: \.originalKey)
        var subscriptions: [CustomerOffer.Subscription] = []
        // The newest product of each subscription, by what its renewal info is stored under.
        var newest: [Int64: [ExactText: (place: Int, start: Timestamp)]] = [:]
        var renewals: [Int64: [ExactText: RenewalKey]] = [:]
        for key in originals {
            var found: [ExactText: CustomerOffer.Subscription] = [:]
            var latest: (facts: ObservedTransaction, product: ExactText, environment: Int64)?
            for row in (rows[key] ?? []).sorted(by: { $0.key < $1.key }) where !row.isErased {
                let environment = try reader.environments.environment(row.environment)
                guard (try reader.counts(environment, for: customer.key, app)) else { break }
                let facts = try row.observed(in: environment)
                guard (facts.kind ?? row.kind) == .autoRenewable, facts.holder == .buyer,
                    let product = facts.productID
                else { continue }
                var one =
                    found[product]
                    ?? CustomerOffer.Subscription(
                        productID: product.string, groupID: app.settings.product(product.string)?.group,
                        isActive: active.contains(key),
                        hadIntroductory: false)
                one.groupID = facts.subscriptionGroupID ?? one.groupID
                one.hadIntroductory = one.hadIntroductory || facts.offer?.isIntroductory == true
                found[product] = one
                let start = facts.purchaseDate ?? .epoch
                if latest.map({ start >= $0.facts.purchaseDate ?? .epoch }) ?? true {
                    latest = (facts, product, row.environment)
                }
            }
            for (product, one) in found.sorted(by: { $0.key < $1.key }) {
                if let latest, latest.product == product {
                    let renewal = latest.facts.renewal
                    newest[latest.environment, default: [:]][renewal.originalTransactionID] = (
                        subscriptions.count, latest.facts.purchaseDate ?? .epoch
                    )
                    renewals[latest.environment, default: [:]][renewal.originalTransactionID] = renewal
                }
                subscriptions.append(one)
            }
        }
        for (environment, keys) in renewals {
            for (id, news) in try RenewalsTable(connection: reader.connection).news(
                of: keys, environment: environment)
            {
                // What was signed before the latest period can be an offer that they took with it.
                guard let latest = newest[environment]?[id], let renewal = news.renewal, renewal.stamp >= latest.start
                else { continue }
                subscriptions[latest.place].winBack = Self.winBack(renewal.info.otherClaims)
            }
        }
        return subscriptions
    }

    private struct Claims: Decodable {
        var eligibleWinBackOfferIds: [String]?
    }

    /// The win-back offers among the claims of renewal info that have no field.
    private static func winBack(_ claims: [UInt8]?) -> [String] {
        guard let claims else { return [] }
        do {
            return try JSONDecoder().decode(Claims.self, from: Data(claims)).eligibleWinBackOfferIds ?? []
        } catch {
            // The App Store signed the claim in another form.
            return []
        }
    }
}
