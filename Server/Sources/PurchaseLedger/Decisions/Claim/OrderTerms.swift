import PurchaseVerification

/// The facts of an order that the decision needs.
struct OrderTerms: Sendable, Equatable {
    var productID: ExactText
    var quantity: Int64
    /// The environments whose purchases pay it.
    var environments: [AppStoreEnvironment]
    var createdAt: Timestamp
    var expiresAt: Timestamp
    /// The recorded state, which is never `expired`.
    var status: OrderStatus
    /// Whether the claimed transaction paid it.
    var isPaidByThis: Bool

    /// The tolerance for a purchase that is dated before its order, because the clocks of Apple and the server differ.
    static let clockSkew: Int64 = 300_000

    /// The reason why a purchase cannot pay the order; `nil` if it can.
    func refusal(of purchase: ClaimedPurchase) -> Rejection? {
        let facts = purchase.facts
        guard facts.productID == productID else {
            return Rejection(.productMismatch, expected: productID.string, found: facts.productID?.string)
        }
        guard facts.quantity == quantity else {
            return Rejection(.quantityMismatch, expected: "\(quantity)", found: "\(facts.quantity)")
        }
        guard environments.contains(facts.key.environment) else {
            return Rejection(
                .orderEnvironmentMismatch,
                expected: environments.isEmpty
                    ? "a purchase that counts for the customer (sandbox_access)"
                    : environments.map(\.name).joined(separator: " or "),
                found: facts.key.environment.name)
        }
        switch status {
        case .created, .expired: break
        case .paid, .fulfilled: return isPaidByThis ? nil : Rejection(.orderAlreadyPaid)
        case .cancelled: return Rejection(.orderCancelled)
        case .refunded: return Rejection(.orderRefunded)
        }
        if purchase.hasPaidAnotherOrder { return .alreadyClaimed(.anotherOrder) }
        if purchase.isCopy { return .alreadyClaimed(.restoredCopy) }
        guard purchase.isPaidFor else { return Rejection(.purchaseNotPaid) }
        guard let date = facts.purchaseDate, contains(date) else {
            return Rejection(
                .purchaseOutsideOrder, expected: "a purchase from \(createdAt) to \(expiresAt)",
                found: facts.purchaseDate.map { "\($0)" })
        }
        return nil
    }

    private func contains(_ date: Timestamp) -> Bool {
        createdAt.millisecondsSince1970 - Self.clockSkew <= date.millisecondsSince1970 && date < expiresAt
    }
}
