public import PurchaseAPI

/// Asks the App Store about a receipt. The outcome is a hint from a known source, not a proof: no signature covers the
/// reply.
public protocol ReceiptValidation: Sendable {
    /// Asks about one receipt. It never throws: without a usable reply, the outcome is `undetermined`.
    func validate(_ request: ReceiptValidationRequest) async -> ReceiptValidationOutcome

    /// The state of the circuit breaker of an environment.
    func circuit(of environment: ValidationEnvironment) -> CircuitState
}

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

/// The two environments of the App Store, each with addresses of its own.
public enum ValidationEnvironment: String, Sendable, Hashable, CaseIterable {
    case production = "Production"
    case sandbox = "Sandbox"

    public var other: ValidationEnvironment { self == .production ? .sandbox : .production }
}

/// The shared secret of an app. Its text is never printed.
public struct SharedSecret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
    /// The secret, as bytes: strings are compared after Unicode normalisation.
    let utf8: [UInt8]

    /// A secret; `nil` for an empty one, which Apple answers with 21004.
    public init?(_ text: String) {
        guard !text.isEmpty else { return nil }
        utf8 = Array(text.utf8)
    }

    public var description: String { "(shared secret)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The outcome of a question to `verifyReceipt`.
public enum ReceiptValidationOutcome: Sendable {
    /// Apple answered with a final status: 0, 21003, 21004, 21006, 21010, or 21007 or 21008 after the switch to the
    /// other environment.
    case conclusive(AppStoreReply)
    /// There is no such answer, which says nothing about the receipt; ask again.
    case undetermined(UndeterminedValidation)
}

/// A conclusive reply of `verifyReceipt`.
public struct AppStoreReply: Sendable {
    public var status: VerifyReceiptStatus { response.status }
    /// The environment that answered.
    public let environment: ValidationEnvironment
    /// The reply as received, after decompression.
    public let json: [UInt8]
    /// The reply, decoded.
    public let response: VerifyReceiptResponse

    public init(environment: ValidationEnvironment, json: [UInt8], response: VerifyReceiptResponse) {
        self.environment = environment
        self.json = json
        self.response = response
    }
}
