import PurchaseVerification

/// The state of a claimed purchase at one time, for its owner.
struct ClaimStanding {
    let purchase: ClaimedPurchase
    /// The statement of the claim's own evidence.
    let proven: ObservedTransaction
    let app: RegisteredApp
    /// The owner's entitlement to the product.
    var entitlement: Entitlement?
    let now: Timestamp

    /// Whether the purchase is a period that is over, and that no grace period prolongs.
    var isOver: Bool {
        guard purchase.kind == .autoRenewable, !beginsLater, let end = purchase.facts.end, end <= now else {
            return false
        }
        return entitlement?.transactionID != purchase.facts.key.transactionID.string
    }

    /// Why the owner has no access to the product although the purchase was paid for. A purchase that begins later
    /// already belongs to the customer.
    var reason: NoAccessReason? {
        guard let kind = purchase.kind, kind != .consumable, !beginsLater else { return nil }
        switch entitlement?.reason {
        case .inGrace, .notStarted: return nil
        case let reason: return reason
        }
    }

    /// Whether it is a period that begins later. The App Store charges up to a day before a period begins.
    private var beginsLater: Bool {
        guard purchase.kind == .autoRenewable, let start = purchase.facts.purchaseDate else { return false }
        return now < start && (purchase.facts.end.map { start < $0 } ?? false)
    }

    /// The conflict of a period that ended.
    func expired(_ end: Timestamp?) -> ClaimRule<ClaimStanding>.Conflict {
        .init(expected: "an end after \(now)", found: end.map { "\($0)" })
    }
}
