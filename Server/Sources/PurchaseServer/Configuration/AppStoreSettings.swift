package import AppStoreConnection
import Foundation

/// The addresses at which the App Store is asked about claims, and the maximum time that claims wait for it.
public struct AppStoreSettings: Sendable, Equatable {
    /// The address of `verifyReceipt` for production.
    public var verifyReceiptProduction = Self.apple.production
    /// The address of `verifyReceipt` for the sandbox.
    public var verifyReceiptSandbox = Self.apple.sandbox
    /// A PEM file with the authorities that are trusted for these addresses; `nil` for the system's.
    public var tlsTrust: String?
    /// How long a claim waits for the App Store at most.
    public var waitHours: Int64 = 72

    public init() {}

    private static let apple = (
        production: AppStoreConnectionSettings.apple.verifyReceiptProduction.absoluteString,
        sandbox: AppStoreConnectionSettings.apple.verifyReceiptSandbox.absoluteString
    )

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

    var timing: AppStoreTiming {
        var timing = AppStoreTiming()
        timing.givesUpAfter = waitHours * 3_600_000
        return timing
    }
}
