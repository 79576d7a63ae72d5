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

/// What the program around a server adds to the console.
public struct ConsoleTools: Sendable {
    /// The address of the simulated App Store that the server belongs to, to which the pages link; `nil` for Apple's.
    public var store: String?
    /// Examines the installation, without a delivery to a webhook; `nil` if nothing can.
    public var examine: (@Sendable () async -> [InstallationFinding])?
    /// The text of an inspection without identifiers of persons, devices and purchases; `nil` if nothing writes one.
    public var redactedReport: (@Sendable (EvidenceInspection) -> String)?

    public init() {}
}

/// What one check found about the installation.
public struct InstallationFinding: Sendable, Equatable {
    /// `fine`, `warning` or `failed`.
    public var state: String
    /// What was checked; a stable code.
    public var check: String
    /// The facts, as a sentence.
    public var found: String
    /// What to do; `nil` if nothing has to be done.
    public var action: String?

    public init(state: String, check: String, found: String, action: String?) {
        (self.state, self.check, self.found, self.action) = (state, check, found, action)
    }
}

/// What Apple knows about the order number in a customer's mail.
public enum AppleOrderAnswer: Sendable, Equatable {
    /// The transactions of the order, which are recorded now.
    case transactions([String])
    /// Apple knows no order of the app with this number.
    case unknown
    /// The app has no key of the App Store Server API.
    case notConfigured
    /// Apple gave no answer, with the code of the reason.
    case noAnswer(String)
}
