import Foundation
import PurchaseAPI
import PurchaseVerification

/// What a customer may have next: the introductory, promotional and win-back offers of the app, with the reason.
public struct OffersOfCustomer: LedgerQuery {
    public static let access = LedgerReadAccess.lists
    /// The most transactions of one subscription that are read.
    private static let transactions = 1000

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
        var (subscriptions, signed): ([CustomerOffer.Subscription], [String: [Timestamp]]) = ([], [:])
        if let customer {
            subscriptions = try self.subscriptions(of: customer, app, reader)
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
            rules, products: products.sorted().map(\.string), subscriptions: subscriptions,
            audience: try SignOffer.audience(of: [customer].compactMap(\.self), app, reader), signed: signed,
            at: reader.now)
        return Answer(offers: offers, mergedInto: customer?.survivor(of: customerID))
    }

    /// The subscriptions that the customer bought, in the environments that count for them.
    private func subscriptions(
        of customer: CustomerRow, _ app: RegistryApp, _ reader: LedgerTransaction
    ) throws -> [CustomerOffer.Subscription] {
        let current = try SubscriptionsOfCustomer(app: self.app, customerID: customerID).answer(reader).subscriptions
            .filter { $0.seat == nil && $0.entitlement.state == .active }.map { ExactText($0.originalTransactionID) }
        var subscriptions: [CustomerOffer.Subscription] = []
        for key in try reader.transactions.subscriptions(of: customer.key) {
            var found: [ExactText: CustomerOffer.Subscription] = [:]
            var latest: (start: Timestamp, product: ExactText)?
            var renewed: (facts: ObservedTransaction, environment: Int64)?
            for row in try reader.transactions.rows(originalKey: key, limit: Self.transactions) where !row.isErased {
                let environment = try reader.environments.environment(row.environment)
                guard (try reader.counts(environment, for: customer.key, app)) else { break }
                let facts = try row.observed(in: environment)
                guard (facts.kind ?? row.kind) == .autoRenewable, facts.holder == .buyer,
                    let product = facts.productID
                else { continue }
                let isActive = current.contains(facts.original.transactionID)
                var one =
                    found[product]
                    ?? CustomerOffer.Subscription(
                        productID: product.string, groupID: nil, isActive: isActive, hadIntroductory: false)
                one.groupID = one.groupID ?? facts.subscriptionGroupID
                one.hadIntroductory = one.hadIntroductory || facts.offer?.isIntroductory == true
                found[product] = one
                let start = facts.purchaseDate ?? .epoch
                if latest.map({ start >= $0.start }) ?? true { latest = (start, product) }
                // All periods of an original have one renewal.
                renewed = renewed ?? (facts, row.environment)
            }
            let renewal = try renewed.flatMap { renewed throws(LedgerStorageError) in
                try RenewalsTable(connection: reader.connection).facts(
                    renewed.facts.renewal, environment: renewed.environment)
            }
            if let latest, let renewal { found[latest.product]?.winBack = Self.winBack(renewal.info.otherClaims) }
            subscriptions += found.sorted { $0.key < $1.key }.map(\.value)
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
