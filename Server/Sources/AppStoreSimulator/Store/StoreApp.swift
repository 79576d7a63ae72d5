import Foundation

/// An app that is on sale.
public struct StoreApp: Codable, Hashable, Sendable {
    /// The bundle id; no two apps have the same.
    public let bundleID: String
    /// The number of the app in the store (`adam_id`).
    public var appID: UInt64
    /// The name that people see.
    public var name: String
    /// The version that customers have.
    public var version: String
    /// The secret that `verifyReceipt` requires; nil if none is required.
    public var sharedSecret: String?
    /// The number of days for which a subscription continues while its renewal cannot be paid; 0 for no grace period.
    public var gracePeriodDays: Int
    /// The environment names in the evidence of the app.
    public var environmentNames: EnvironmentNames
    /// Whether it was ever released; nil if it was. The production side of the App Store Server API refuses the tokens
    /// of an app that never was.
    public var isReleased: Bool?

    /// The identifier of a customer's copy of the app, the same in everything that is signed for them
    /// (`appTransactionId`).
    public func appTransactionID(of customer: StoreCustomer) -> String {
        Self.appTransactionID(bundleID, customer.customerID)
    }

    static func appTransactionID(_ bundleID: String, _ customerID: String) -> String {
        let octets = UUID(derivedFrom: "app transaction|\(bundleID)|\(customerID)").bytes
        let number = octets.prefix(7).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return "\(700_000_000_000_000_000 + number)"
    }
}
