package import PurchaseLedger

/// Asks the App Store for the news about subscriptions that the ledger lacks, and records them. The composition root
/// provides it; without one, the drop-in answers from what the ledger has.
package protocol MissingNewsSource: Sendable {
    /// Whether the settings of an app let the App Store be asked for the answers of `verifyReceipt`.
    func isAsked(for app: String) -> Bool

    /// How long an answer waits for the App Store, in seconds.
    var budget: Double { get }

    /// Asks about the original transactions of a receipt.
    ///
    /// - Returns: whether something new was recorded, so that the state is read again.
    func fetch(_ question: StateOfReceipt, app: String) async throws -> Bool
}
