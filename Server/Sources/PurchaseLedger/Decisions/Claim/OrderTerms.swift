import PurchaseVerification

/// The facts of an order that the decision needs.
struct OrderTerms: Sendable, Equatable {
    var productID: ExactText
    var quantity: Int64
    /// The environments whose purchases pay it.
    var environments: [AppStoreEnvironment]
    /// Whether an automatic renewal pays it, although no claim names it.
    var acceptsRenewal = false
    var createdAt: Timestamp
    var expiresAt: Timestamp
    /// The recorded state, which is never `expired`.
    var status: OrderStatus
    /// Whether the claimed transaction paid it.
    var isPaidByThis: Bool

    /// The tolerance for a purchase that is dated before its order, because the clocks of Apple and the server differ.
    static let clockSkew: Int64 = 300_000

    /// Whether a purchase whose claim names no order pays it. Nobody asked for an automatic renewal, so it leaves an order open that
    /// waits for something to be bought.
    func isPaidUnnamed(by purchase: ClaimedPurchase, isRenewal: Bool) -> Bool {
        (acceptsRenewal || !isRenewal)
            && ClaimRules.order.refusal(of: OrderMatch(terms: self, purchase: purchase)) == nil
    }

    /// The environments for people.
    var expectedEnvironments: String {
        environments.isEmpty
            ? "a purchase that counts for the customer (sandbox_access)"
            : environments.map(\.name).joined(separator: " or ")
    }

    /// Whether a purchase at a time was made during the life of the order.
    func contains(_ date: Timestamp) -> Bool {
        Self.contains(date, from: createdAt, to: expiresAt)
    }

    /// Whether a purchase at a time was made during the life of an order.
    static func contains(_ date: Timestamp, from createdAt: Timestamp, to expiresAt: Timestamp) -> Bool {
        createdAt.millisecondsSince1970 - clockSkew <= date.millisecondsSince1970 && date < expiresAt
    }
}
