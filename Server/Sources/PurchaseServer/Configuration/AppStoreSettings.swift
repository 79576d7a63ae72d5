package import AppStoreConnection
import Foundation
import NIOSSL

/// The addresses at which the App Store is asked about claims, and the maximum time that claims wait for it.
public struct AppStoreSettings: Sendable, Equatable {
    /// The address of `verifyReceipt` for production.
    public var verifyReceiptProduction = Self.apple.production
    /// The address of `verifyReceipt` for the sandbox.
    public var verifyReceiptSandbox = Self.apple.sandbox
    /// The address of the App Store Server API for production.
    public var serverAPIProduction = Self.appleServerAPI.production
    /// The address of the App Store Server API for the sandbox.
    public var serverAPISandbox = Self.appleServerAPI.sandbox
    /// The percentage of Apple's limits that the server uses.
    public var serverAPILimitPercent: Int64 = 100
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

    /// Whether one of the addresses of the Server API is Apple's and the other is not.
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
        return settings
    }

    /// Whether one of the addresses is Apple's and the other is not: a receipt of one environment would go to the wrong
    /// place.
    var isMixed: Bool {
        (verifyReceiptProduction == Self.apple.production) != (verifyReceiptSandbox == Self.apple.sandbox)
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
                "'\(path)' has no certificates in PEM", "Name a file with the certificates of authorities in PEM")
        }
    }

    var timing: AppStoreTiming {
        var timing = AppStoreTiming()
        timing.givesUpAfter = waitHours * 3_600_000
        return timing
    }
}
