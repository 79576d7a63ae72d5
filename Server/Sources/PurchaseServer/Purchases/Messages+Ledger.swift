import Foundation
package import PurchaseAPI
package import PurchaseLedger
import PurchaseVerification

package import struct PurchaseAPI.ProductType
package import enum PurchaseLedger.Disposition
package import enum PurchaseLedger.PriorClaim

extension PurchaseAPI.Disposition {
    init(_ disposition: Disposition) { self.init(rawValue: disposition.rawValue) }
}

extension PurchaseAPI.PriorClaim {
    init(_ claim: PriorClaim) { self.init(rawValue: claim.rawValue) }
}

extension EventMessage {
    /// An event as the HTTP interface, webhooks and the program show it.
    package init(_ event: EventContent) {
        self.init(
            id: event.id, type: EventType(rawValue: event.type).map { Kind($0) } ?? Kind(rawValue: event.type),
            at: "\(event.at)",
            app: event.app, customerID: event.customerID, formerCustomerID: event.formerCustomerID,
            ownerCustomerID: event.ownerCustomerID,
            environment: event.environment.map { EnvironmentName(rawValue: $0) }, counts: event.counts,
            productID: event.productID, transactionID: event.transactionID,
            originalTransactionID: event.originalTransactionID, orderID: event.orderID?.text, units: event.units,
            balance: event.balance, shortfall: event.shortfall, until: event.until.map { "\($0)" },
            reason: event.reason, submissionID: event.submissionID, price: event.price, currency: event.currency,
            changed: event.changed?.map(RenewalField.init(rawValue:)),
            renewal: event.renewal.map { RenewalMessage($0.info, signedAt: $0.stamp) },
            formerRenewal: event.formerRenewal.map { RenewalMessage($0.info, signedAt: $0.stamp) },
            entryID: event.entryID.text)
        externalPurchaseID = event.externalPurchaseID
    }
}

extension OrderMessage {
    /// - Parameters:
    ///   - takenUnits: the units that the request took.
    ///   - isReplayed: whether an earlier request did the same; `nil` if the order is only shown.
    package init(_ order: Order, takenUnits: Int64? = nil, isReplayed: Bool? = nil) {
        self.init(
            orderID: order.id.text, customerID: order.customerID, productID: order.productID,
            quantity: order.quantity, environment: order.environment.map { EnvironmentName($0) },
            acceptsRenewal: order.acceptsRenewal ? true : nil, metadata: order.metadata.flatMap(Self.metadata),
            appAccountToken: order.appAccountToken.text,
            status: Status(rawValue: order.status.rawValue), createdAt: "\(order.createdAt)",
            expiresAt: "\(order.expiresAt)", paidAt: order.paidAt.map { "\($0)" },
            fulfilledUnits: order.fulfilledUnits == 0 ? nil : order.fulfilledUnits,
            fulfilledAt: order.fulfilledAt.map { "\($0)" }, closedAt: order.closedAt.map { "\($0)" },
            payment: order.payment.map { PaymentMessage($0) }, takenUnits: takenUnits, replayed: isReplayed)
    }

    /// Metadata as the ledger stores it.
    static func metadataText(_ metadata: [String: String]) throws -> String {
        String(decoding: try Wire.json(metadata), as: UTF8.self)
    }

    /// The metadata of such a text; `nil` if it was not written by the ledger.
    private static func metadata(_ text: String) -> [String: String]? {
        do {
            return try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
        } catch {
            return nil
        }
    }
}

extension PaymentMessage {
    init(_ payment: OrderPayment) {
        self.init(
            transactionID: payment.transactionID, environment: EnvironmentName(payment.environment),
            price: payment.price?.milliunits, currency: payment.price?.currency?.string,
            offer: payment.offer.map { OfferMessage($0) })
    }
}

extension PurchaseAnswer {
    /// The answer to a claim that was accepted.
    init(_ outcome: PurchaseOutcome) {
        self.init(
            verdict: SubmissionVerdict(rawValue: outcome.verdict.rawValue), code: outcome.code,
            disposition: PurchaseAPI.Disposition(outcome.disposition), replayed: outcome.isReplayed,
            submissionID: outcome.submissionID.text, leafHash: outcome.leafHash.hexadecimal,
            transaction: TransactionMessage(outcome), order: outcome.order.map { OrderMessage($0) },
            entitlement: outcome.entitlement.map { EntitlementMessage($0) })
        mergedInto = outcome.mergedInto
    }
}

extension TransactionMessage {
    /// The purchase of a claim that was accepted, which has all of the names.
    fileprivate init(_ outcome: PurchaseOutcome) {
        self.init(
            transactionID: outcome.transactionID ?? "", originalTransactionID: outcome.originalTransactionID ?? "",
            productID: outcome.productID ?? "", productType: outcome.productKind.map { ProductType($0) },
            environment: EnvironmentName(outcome.environment ?? .production), quantity: outcome.quantity,
            customerID: outcome.customerID, orderID: outcome.orderID?.text,
            purchasedAt: outcome.purchasedAt.map { "\($0)" }, expiresAt: outcome.expiresAt.map { "\($0)" },
            price: outcome.price?.milliunits, currency: outcome.price?.currency?.string,
            offer: outcome.offer.map { OfferMessage($0) }, familyShared: outcome.isFamilyShared,
            seats: outcome.seats,
            ownerReason: outcome.ownerReason.map(OwnerReason.init(rawValue:)),
            knownAt: outcome.knownAt.map { "\($0)" })
    }

    package init(_ purchase: RecordedPurchase) {
        self.init(
            transactionID: purchase.transactionID, originalTransactionID: purchase.originalTransactionID,
            productID: purchase.productID, productType: purchase.productKind.map { ProductType($0) },
            environment: EnvironmentName(purchase.environment), quantity: purchase.quantity,
            customerID: purchase.customerID, orderID: purchase.orderID?.text,
            purchasedAt: purchase.purchasedAt.map { "\($0)" }, expiresAt: purchase.expiresAt.map { "\($0)" },
            withdrawal: purchase.withdrawal.map { WithdrawalMessage($0) },
            upgradedAt: purchase.upgradedAt.map { "\($0)" }, price: purchase.price?.milliunits,
            currency: purchase.price?.currency?.string, offer: purchase.offer.map { OfferMessage($0) },
            familyShared: purchase.isFamilyShared, seats: purchase.seats,
            ownerReason: purchase.ownerReason.map(OwnerReason.init(rawValue:)), knownAt: "\(purchase.knownAt)",
            renewal: purchase.renewal.map { RenewalMessage($0) })
    }
}

extension EntitlementList {
    package init(_ query: EntitlementsOfCustomer, _ answer: EntitlementsOfCustomer.Answer) {
        self.init(
            customerID: query.customerID, at: query.moment.map { "\($0)" },
            entitlements: answer.entitlements.map { EntitlementMessage($0) },
            named: answer.named.map { NamedEntitlementMessage($0) })
        mergedInto = answer.mergedInto
    }
}

extension EnvironmentName {
    /// The environment, if the app accepts its evidence. An order or a grant in any other environment would never
    /// count.
    func accepted(by app: RegisteredApp) throws(Problem) -> AppStoreEnvironment { try one(of: app.environments) }

    /// The environment of something that exists: one of Apple's, or another one that the app accepts. The settings can
    /// have changed since.
    func known(to app: RegisteredApp) throws(Problem) -> AppStoreEnvironment { try one(of: app.knownEnvironments) }

    private func one(of environments: Set<AppStoreEnvironment>) throws(Problem) -> AppStoreEnvironment {
        let environment = AppStoreEnvironment(anyCase: rawValue)
        guard environments.contains(environment) else {
            throw Problem.parameter(
                "environment", environments.map(\.name).sorted().joined(separator: ", "), found: rawValue)
        }
        return environment
    }
}

extension RegisteredApp {
    fileprivate var knownEnvironments: Set<AppStoreEnvironment> { environments.union([.production, .sandbox, .xcode]) }
}
