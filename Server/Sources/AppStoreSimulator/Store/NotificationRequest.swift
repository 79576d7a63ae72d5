public import Foundation

/// A notification that a tester causes without anything else.
public struct NotificationRequest: Sendable {
    /// `notificationType`, known or not.
    public var type: String
    /// `subtype`, known or not.
    public var subtype: String?
    /// The app.
    public var bundleID: String
    /// The environment, if neither a transaction nor a customer has one; the sandbox by default.
    public var environment: StoreEnvironment?
    /// The purchase that it is about.
    public var transactionID: String?
    /// The customer that it is about; of `RESCIND_CONSENT`.
    public var customerID: String?
    /// Of `RENEWAL_EXTENSION` with `SUMMARY`.
    public var requestIdentifier: String?
    public var productID: String?
    public var storefrontCountryCodes: [String]?
    public var succeededCount: Int64?
    public var failedCount: Int64?
    /// Of `EXTERNAL_PURCHASE_TOKEN`; a new one by default.
    public var externalPurchaseID: String?
    public var tokenExpirationDate: Date?
    public var tokenType: String?
    /// Of `UNCLAIM_SEATS`.
    public var seatIDs: [String]?

    /// A notification about an app.
    public init(type: String, subtype: String? = nil, bundleID: String) {
        self.type = type
        self.subtype = subtype
        self.bundleID = bundleID
    }
}
