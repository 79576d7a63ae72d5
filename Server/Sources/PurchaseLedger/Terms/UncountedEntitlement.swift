import PurchaseVerification

/// An entitlement before the settings `sandbox_access` and `lapse_tolerance` are applied. It decides claims, and never
/// leaves the ledger.
struct UncountedEntitlement: Sendable, Equatable {
    var entitlement: Entitlement
    /// The entitlement with assumed access, if there is some.
    var assumed: Entitlement?

    /// The entitlement that leaves the ledger. If purchases of its environment do not count for the customer, it gives
    /// nothing.
    func counted(_ counts: Bool) -> Entitlement {
        guard !counts else { return assumed ?? entitlement }
        var denied = entitlement
        denied.reason = .sandboxNotAccepted
        denied.state = Entitlement.State(denied.reason)
        (denied.balance, denied.shortfall, denied.since) = (0, 0, nil)
        return denied
    }
}
