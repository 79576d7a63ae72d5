package import AppStoreConnection
import Foundation
import NIOSSL
import PurchaseLedger
public import PurchaseVerification

/// The addresses at which the App Store is asked about claims, and the maximum time that claims wait for it.
public struct AppStoreSettings: Sendable, Equatable {
    public var verifyReceiptProduction = Self.apple.production
    public var verifyReceiptSandbox = Self.apple.sandbox
    public var serverAPIProduction = Self.appleServerAPI.production
    public var serverAPISandbox = Self.appleServerAPI.sandbox
    /// The percentage of Apple's limits that the server uses.
    public var serverAPILimitPercent: Int64 = 100
    /// The environments in which Apple has the calls of groups and seats.
    public var groupEnvironments: Set<AppStoreEnvironment> = [.sandbox]
    /// A PEM file with the authorities that are trusted for these addresses; `nil` for the system's.
    public var tlsTrust: String?
    /// How long a claim waits for the App Store at most.
    public var waitHours: Int64 = 72

    public init() {}

    private static let apple = (
        production: AppStoreConnectionSettings.apple.verifyReceiptProduction.absoluteString,
        sandbox: AppStoreConnectionSettings.apple.verifyReceiptSandbox.absoluteString
    )

    private static let appleServerAPI = (
        production: AppStoreServerSettings.apple.production.absoluteString,
        sandbox: AppStoreServerSettings.apple.sandbox.absoluteString
    )

    /// Whether one of two addresses is Apple's and the other is not: a receipt of one environment would go to the wrong
    /// place.
    var isMixed: Bool {
        (verifyReceiptProduction == Self.apple.production) != (verifyReceiptSandbox == Self.apple.sandbox)
    }
    var isServerAPIMixed: Bool {
        (serverAPIProduction == Self.appleServerAPI.production) != (serverAPISandbox == Self.appleServerAPI.sandbox)
    }

    /// The addresses of the Server API, checked.
    ///
    /// - Throws: `AppStoreConnectionSettingsError`.
    package func serverAPI() throws(AppStoreConnectionSettingsError) -> AppStoreServerSettings {
        var settings = try AppStoreServerSettings(
            production: serverAPIProduction, sandbox: serverAPISandbox, trustFile: tlsTrust)
        settings.limitFactor = Double(serverAPILimitPercent) / 100
        settings.groupEnvironments = Set(groupEnvironments.compactMap { ValidationEnvironment(rawValue: $0.name) })
        return settings
    }

    /// The addresses, checked.
    ///
    /// - Throws: `AppStoreConnectionSettingsError`.
    package func connection() throws(AppStoreConnectionSettingsError) -> AppStoreConnectionSettings {
        try AppStoreConnectionSettings(
            production: verifyReceiptProduction, sandbox: verifyReceiptSandbox, trustFile: tlsTrust)
    }

    /// Checks a file of authorities that are trusted for the addresses.
    static func checkTrust(_ path: String, _ files: NamedFiles) throws(SettingFault) {
        let bytes = try files.bytes(path)
        let authorities = try? NIOSSLCertificate.fromPEMBytes(bytes)
        guard authorities?.isEmpty == false else {
            throw SettingFault(
                "'\(path)' has no certificates in PEM", "Name a file with the certificates of authorities in PEM", .file
            )
        }
    }

    var timing: AppStoreTiming {
        var timing = AppStoreTiming()
        timing.givesUpAfter = waitHours * 3_600_000
        return timing
    }
}

/// How long claims wait for the App Store.
public struct AppStoreTiming: Sendable {
    /// How long a request waits for the App Store before it is answered with 503: as long as one attempt may take.
    public var answersWithin = Duration.seconds(10)
    /// How long a claim waits at most, in milliseconds.
    public var givesUpAfter: Int64 = 72 * 3_600_000
    /// How often the server looks for claims that are due.
    public var looksEvery = Duration.seconds(1)

    public init() {}

    /// The claims that a server asks about at the same time. A reply has up to 32 MiB.
    static let atOnce = 32

    /// When work is tried again that had no answer.
    ///
    /// - Parameters:
    ///   - work: with the attempts so far.
    ///   - pause: what the App Store asked for.
    static func next(after work: LedgerWork, _ pause: Duration, at now: Timestamp) -> Timestamp {
        now.adding(milliseconds: max(self.pause(after: work.attempts), Int64(pause / .milliseconds(1))), times: 1)
    }

    /// The pause after this number of attempts without an answer, in milliseconds: 5 s, doubling up to 10 minutes.
    static func pause(after attempts: Int) -> Int64 {
        let doublings = min(max(0, attempts - 1), 7)
        return min(5000 << Int64(doublings), 600_000)
    }
}
