package import AppStoreConnection
import Foundation

/// Where the App Store is asked about claims, and how long they wait for it.
public struct AppStoreSettings: Sendable, Equatable {
    /// The address of `verifyReceipt` for production; `nil` for Apple's.
    public var verifyReceiptProduction: String?
    /// The address of `verifyReceipt` for the sandbox; `nil` for Apple's.
    public var verifyReceiptSandbox: String?
    /// A PEM file with the authorities that these addresses are trusted by; `nil` for the system's.
    public var tlsTrust: String?
    /// How long a claim waits for the App Store at most.
    public var waitHours: Int64 = 72

    public init() {}

    /// The addresses, checked.
    ///
    /// - Throws: `AppStoreConnectionSettingsError`.
    package func connection() throws(AppStoreConnectionSettingsError) -> AppStoreConnectionSettings {
        let apple = AppStoreConnectionSettings.apple
        return try AppStoreConnectionSettings(
            production: verifyReceiptProduction ?? apple.verifyReceiptProduction.absoluteString,
            sandbox: verifyReceiptSandbox ?? apple.verifyReceiptSandbox.absoluteString, trustFile: tlsTrust)
    }

    var timing: AppStoreTiming {
        var timing = AppStoreTiming()
        timing.givesUpAfter = waitHours * 3_600_000
        return timing
    }
}
