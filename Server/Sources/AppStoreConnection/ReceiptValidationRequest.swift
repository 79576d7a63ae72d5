/// A question to `verifyReceipt`.
public struct ReceiptValidationRequest: Sendable {
    /// The receipt: the bytes of an app receipt (CMS) or of a transaction receipt (a property list), not base64.
    public var receipt: [UInt8]
    /// The key of the app, by which calls in flight are limited. It is not sent.
    public var app: String
    /// Whether the receipt has auto-renewable subscriptions.
    public var autoRenewables: AutoRenewables
    /// Whether only the latest period of each subscription is wanted.
    public var excludesOldTransactions: Bool
    /// The app's shared secret. It is sent only as `autoRenewables` says.
    public var sharedSecret: SharedSecret?

    public init(
        receipt: [UInt8], app: String, autoRenewables: AutoRenewables, excludesOldTransactions: Bool = false,
        sharedSecret: SharedSecret? = nil
    ) {
        self.receipt = receipt
        self.app = app
        self.autoRenewables = autoRenewables
        self.excludesOldTransactions = excludesOldTransactions
        self.sharedSecret = sharedSecret
    }

    /// Whether a receipt has auto-renewable subscriptions, which decides whether the shared secret is sent: Apple
    /// answers 21003 or 21004 if a secret is sent with a receipt that needs none.
    public enum AutoRenewables: Sendable, Hashable {
        /// The secret is sent; 21004 is final.
        case present
        /// The secret is not sent.
        case absent
        /// The receipt does not show it. The secret is sent, and after 21004 the receipt is sent once more without it.
        case unknown
    }
}
