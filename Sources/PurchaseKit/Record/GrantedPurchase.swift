public import Foundation

/// A purchase that was granted on this device. Consumables and non-renewing subscriptions are in a receipt once, so
/// this is the only place on the device where they are.
public struct GrantedPurchase: Sendable, Codable, Equatable {
    public var key: PurchaseKey
    public var originalTransactionID: String?
    public var productID: String
    /// The kind of product; `nil` if the evidence does not state it.
    public var kind: PurchaseProductKind?
    public var quantity: Int64
    public var customerID: String?
    public var orderID: String?
    public var purchaseDate: Date?
    /// When the paid period ends; `nil` if it does not end.
    public var expirationDate: Date?
    /// When the grace period after it ends, as signed renewal info states it.
    public var graceUntil: Date?
    /// What signed renewal info says about the next renewal; only without a server, which says it otherwise.
    public var renewal: PurchaseRenewal?
    public var grantedAt: Date
    /// When the newest evidence of it was signed.
    public var signedAt: Date?
    /// When a refund, a revocation or an upgrade ended it.
    public var endedAt: Date?
    /// The submission in the server's record.
    public var submissionID: String?
    /// The customer's UUID in the evidence.
    var appAccountToken: UUID?
    /// Whether it comes through Family Sharing; `nil` if nothing signed states it.
    var isFamilyShared: Bool?

    /// A purchase from its parts, for the migration of purchases that an app stored before.
    public init(
        key: PurchaseKey, originalTransactionID: String? = nil, productID: String, kind: PurchaseProductKind? = nil,
        quantity: Int64 = 1, customerID: String? = nil, orderID: String? = nil, purchaseDate: Date? = nil,
        expirationDate: Date? = nil, graceUntil: Date? = nil, renewal: PurchaseRenewal? = nil, grantedAt: Date,
        signedAt: Date? = nil, endedAt: Date? = nil, submissionID: String? = nil
    ) {
        (self.key, self.originalTransactionID, self.productID) = (key, originalTransactionID, productID)
        (self.kind, self.quantity, self.customerID, self.orderID) = (kind, quantity, customerID, orderID)
        (self.purchaseDate, self.expirationDate, self.graceUntil) = (purchaseDate, expirationDate, graceUntil)
        (self.renewal, self.grantedAt, self.signedAt) = (renewal, grantedAt, signedAt)
        (self.endedAt, self.submissionID) = (endedAt, submissionID)
    }

    /// When it ends as Apple states it; `nil` if it does not.
    var until: Date? { expirationDate.map { max($0, graceUntil ?? $0) } }
}

/// A purchase that the customer was asked to pay, kept until its transaction arrives, perhaps days later: StoreKit
/// returns the account token, but neither customer nor order. Without an order it ends with its cancellation.
struct StartedPurchase: Codable, Equatable {
    let productID: String
    var customerID: String
    let orderID: String?
    let appAccountToken: UUID?
    var startedAt: Date

    /// The age from which it is dropped: 60 days, longer than any approval or payment takes.
    static let longestAge: Double = 60 * 86_400
}
