public import Foundation

/// The state of the kit for an error report: no evidence, no key and no customer.
public struct PurchaseDiagnostics: Sendable, Codable, Equatable {
    public var startedPurchases: Int
    public var waiting: [Waiting]
    public var grantedPurchases: Int
    public var storedEntitlements: Int
    public var isSignedIn: Bool
    /// The environment of this installation of the app.
    public var environment: String?
    /// The latest time that was seen.
    public var clockMark: Date?
    /// Whether the device's clock is behind it.
    public var isClockBehind: Bool

    /// A transaction that is not finished.
    public struct Waiting: Sendable, Codable, Equatable {
        public var transactionID: String?
        public var productID: String
        public var environment: String?
        public var attempts: Int
        public var nextAttempt: Date?
        public var code: String?
        public var isDecided: Bool
        public var hasCustomer: Bool
        public var hasOrder: Bool
    }
}
