package import PurchaseVerification

/// The facts of an order that the decision needs.
package struct OrderTerms: Sendable, Equatable {
    package var productID: ExactText
    package var quantity: Int64
    /// The environments whose purchases pay it.
    package var environments: [AppStoreEnvironment]
    /// Whether an automatic renewal pays it, although no claim names it.
    package var acceptsRenewal = false
    /// The account token that its customer had when it was created.
    package var token: AppAccountToken?
    package var createdAt: Timestamp
    package var expiresAt: Timestamp
    /// The recorded state, which is never `expired`.
    package var status: OrderStatus

    package init(
        _ productID: ExactText, quantity: Int64, environments: [AppStoreEnvironment], from createdAt: Timestamp,
        to expiresAt: Timestamp, status: OrderStatus
    ) {
        (self.productID, self.quantity, self.environments) = (productID, quantity, environments)
        (self.createdAt, self.expiresAt, self.status) = (createdAt, expiresAt, status)
    }

    /// The tolerance for a purchase that is dated before its order, because the clocks of Apple and the server differ.
    package static let clockSkew: Int64 = 300_000

    /// Whether a purchase whose claim names no order pays it. Nobody asked for an automatic renewal, so it leaves an
    /// order open that waits for something to be bought.
    package func isPaidUnnamed(by purchase: ClaimedPurchase, isRenewal: Bool) -> Bool {
        (acceptsRenewal || !isRenewal) && isPaid(by: purchase)
    }

    /// Whether a purchase pays it.
    func isPaid(by purchase: ClaimedPurchase) -> Bool {
        ClaimRules.order.refusal(of: OrderMatch(terms: self, purchase: purchase)) == nil
    }

    /// The environments for people.
    var expectedEnvironments: String {
        environments.isEmpty
            ? "a purchase that counts for the customer (sandbox_access)"
            : environments.map(\.name).joined(separator: " or ")
    }

    /// Whether a purchase at a time was made during the life of the order.
    package func contains(_ date: Timestamp) -> Bool {
        Self.contains(date, from: createdAt, to: expiresAt)
    }

    /// Whether a purchase at a time was made during the life of an order.
    package static func contains(_ date: Timestamp, from createdAt: Timestamp, to expiresAt: Timestamp) -> Bool {
        createdAt.millisecondsSince1970 - clockSkew <= date.millisecondsSince1970 && date < expiresAt
    }
}
