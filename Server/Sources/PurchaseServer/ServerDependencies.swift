package import AppStoreConnection
import Foundation
public import PurchaseConsole
public import PurchaseLedger
public import PurchaseVerification

/// What a server uses of its surroundings: clocks, the database, and requests to read the settings again.
public struct ServerDependencies: Sendable {
    /// The clock of the ledger, of deliveries, of questions to the App Store and of signed answers.
    public var clock: @Sendable () -> Timestamp = { Timestamp(Date()) }
    /// Opens the database of the settings.
    public var openDatabase: @Sendable (_ address: String) throws -> any LedgerDatabase = {
        try LedgerDatabases.open($0)
    }
    /// Where the settings are read again; `nil` if they never are.
    public var settings: SettingsSource?
    /// Called with a sentence about each file that the start creates.
    public var remark: @Sendable (String) -> Void = { _ in }
    /// Seconds since any moment, never going back; rate limits are measured with it.
    package var uptime: @Sendable () -> Double = { ProcessInfo.processInfo.systemUptime }
    /// How long claims wait for the App Store; `nil` for the times of the settings.
    package var appStoreTiming: AppStoreTiming?
    /// The clock of pauses and circuit breakers of the connection to the App Store.
    package var connectionClock = ConnectionClock.system
    /// How long an offer of a realtime answer may take until the message for other customers is shown.
    package var retentionOfferTime = RetentionRoutes.offerTime
    /// The time limits of one attempt to reach the App Store.
    package var appStoreLimits = AttemptLimits()

    /// How often the files of the certificate are looked at.
    package var certificateInterval = CertificateWatch.interval
    /// What the program adds to the console.
    public var console = ConsoleTools()
    /// The build, for the metrics.
    public var build = ServerBuild()

    public init() {}
}
