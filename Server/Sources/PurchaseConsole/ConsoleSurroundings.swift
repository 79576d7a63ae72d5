public import PurchaseLedger
public import PurchaseVerification

/// The parts of a server that its console uses.
public struct ConsoleSurroundings: Sendable {
    /// The ledger under the settings in force.
    public var ledger: @Sendable () -> PurchaseLedger
    /// The ledger's clock.
    public var clock: @Sendable () -> Timestamp
    /// The checkpoint that the server signed last; `nil` if there is none yet.
    public var checkpoint: @Sendable () throws -> SignedCheckpoint?
    /// Asks Apple about an order number of an app.
    public var appleOrder: @Sendable (_ number: String, _ app: String) async throws -> AppleOrderAnswer
    /// Whether the settings in force have a receiver of an app's events.
    public var hasWebhook: @Sendable (_ app: String, _ url: String) -> Bool
    /// Called with an error that the pages do not explain in full, to log it.
    public var onFailure: @Sendable (any Error) -> Void
    public var tools: ConsoleTools

    public init(
        ledger: @escaping @Sendable () -> PurchaseLedger, clock: @escaping @Sendable () -> Timestamp,
        checkpoint: @escaping @Sendable () throws -> SignedCheckpoint?,
        appleOrder: @escaping @Sendable (_ number: String, _ app: String) async throws -> AppleOrderAnswer,
        hasWebhook: @escaping @Sendable (_ app: String, _ url: String) -> Bool,
        onFailure: @escaping @Sendable (any Error) -> Void, tools: ConsoleTools
    ) {
        self.hasWebhook = hasWebhook
        (self.ledger, self.clock, self.checkpoint, self.appleOrder) = (ledger, clock, checkpoint, appleOrder)
        (self.onFailure, self.tools) = (onFailure, tools)
    }
}
