public import PurchaseVerification

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
