import PurchaseVerification

public import struct Foundation.UUID

/// The answer to a restore.
public struct RestoreOutcome: Sendable, Equatable {
    /// The purchases, in the order of the evidence, each once.
    public var purchases: [RestoredPurchase]
    /// Evidence that was refused, by its place in the request.
    public var refused: [RefusedEvidence]
    /// The customer's current entitlements to the restored products.
    public var entitlements: [Entitlement]
    /// The claims of this restore that wait for the App Store, with the evidence of each.
    public var waiting: [WaitingEvidence] = []
    /// The claims of this restore to check with the App Store.
    public var asksAppStore: [UUID] = []
    /// The customer into whom the named one was merged; `nil` if it was not.
    public var mergedInto: String?
    /// The number of pieces beyond the daily budget, which are only counted and have no entry.
    public var counted = 0
    /// The entries that were written.
    var entries: [UUID] = []
}

extension RestoreOutcome {
    /// The outcome with its refusals in the order of the request, and the entitlements to the restored products.
    ///
    /// - Parameters:
    ///   - entitlements: all entitlements of the customer.
    ///   - evidence: the pieces, in the order of the request.
    func completed(with entitlements: [Entitlement], _ evidence: [ExaminedEvidence]) -> RestoreOutcome {
        var outcome = self
        outcome.refused.sort { $0.index < $1.index }
        RestoreOrder.sort(&outcome.purchases, by: evidence)
        outcome.entitlements = entitlements.filter { entitlement in
            purchases.contains { ExactText($0.productID) == ExactText(entitlement.productID) }
        }
        return outcome
    }
}
