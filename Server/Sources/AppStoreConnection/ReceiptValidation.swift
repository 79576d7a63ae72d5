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

/// The reason why there is no conclusive reply.
public struct UndeterminedValidation: Error, Sendable, Equatable, CustomStringConvertible {
    public let code: Code
    /// The environment that was asked last.
    public let environment: ValidationEnvironment
    /// A description of what was received instead of a conclusive reply. It contains no secret and at most 200 bytes of
    /// text.
    public let seen: String
    /// The status, if a reply had one.
    public let status: VerifyReceiptStatus?
    /// The last reply as received, if there was one of at most `keptReplyBytes`.
    public let json: [UInt8]?
    /// The earliest time to ask again, from now. An earlier call is unlikely to succeed, or the circuit breaker refuses
    /// it.
    public let retryAfter: Duration

    public init(
        _ code: Code, _ environment: ValidationEnvironment, seen: String, status: VerifyReceiptStatus? = nil,
        json: [UInt8]? = nil, retryAfter: Duration
    ) {
        self.code = code
        self.environment = environment
        self.seen = seen
        self.status = status
        self.json = json
        self.retryAfter = retryAfter
    }

    /// The largest reply that is kept beside an undetermined outcome: Apple's have less than a kilobyte.
    public static let keptReplyBytes = 1 << 16

    /// The stable codes.
    public enum Code: String, Sendable, CaseIterable {
        /// The connection was refused, reset, or closed before the end of the reply, or the name has no address.
        case unreachable = "app_store_unreachable"
        /// No connection, or no bytes, or no whole reply in time.
        case timeout = "app_store_timeout"
        /// The certificate of the server was not valid.
        case certificate = "app_store_certificate"
        /// The reply had an HTTP status other than 200, such as a redirect.
        case httpStatus = "app_store_http_status"
        /// The reply was not JSON of `verifyReceipt`.
        case unreadable = "app_store_unreadable"
        /// The reply exceeded the size limit.
        case tooLarge = "app_store_too_large"
        /// The status says that Apple cannot answer now: 21002, 21005, 21009, 21100 to 21199, or an unknown one.
        case status = "app_store_status"
        /// No call was made, because the last ones had no answer (the circuit breaker is open).
        case circuitOpen = "app_store_circuit_open"
        /// No call was made, because too many others of the app wait.
        case busy = "app_store_busy"
        /// The client was closed before there was an answer.
        case cancelled = "app_store_cancelled"
    }

    public var description: String { "\(code.rawValue): \(seen) (\(environment.rawValue))" }
}

/// The conclusion from the status of a reply.
public enum ReplyJudgement: Sendable, Equatable {
    /// The reply is final.
    case conclusive
    /// The receipt belongs to the other environment, which is asked next.
    case otherEnvironment
    /// Apple cannot answer now.
    case undetermined(Persistence)

    /// How long an undetermined status is likely to last.
    public enum Persistence: Sendable, Equatable {
        /// It may pass after a moment, and concerns the store. The question is repeated by the whole schedule.
        case passing
        /// The question is repeated once, because 21002 is also the answer to a malformed receipt.
        case perhapsTheReceipt
        /// The question is not repeated now: Apple says that a retry does not help, or the status is unknown.
        case lasting
    }

    /// Judges a reply (Apple, "status").
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - retryFlag: the flag; it has a meaning only with 21100 to 21199. Absent, a retry may help.
    ///   - environment: the environment that was asked.
    ///   - isSwitched: whether the other environment's reply led to this one.
    public init(
        status: VerifyReceiptStatus, retryFlag: Bool?, asked environment: ValidationEnvironment, isSwitched: Bool
    ) {
        switch status {
        case .valid, .notAuthenticated, .secretMismatch, .expired, .accountNotFound: self = .conclusive
        case .sandboxReceiptAtProduction, .productionReceiptAtSandbox:
            let named: ValidationEnvironment = status == .sandboxReceiptAtProduction ? .sandbox : .production
            // An environment that refers the receipt to itself contradicts itself.
            self = isSwitched ? .conclusive : named == environment ? .undetermined(.lasting) : .otherEnvironment
        case .temporarilyUnavailable, .internalError: self = .undetermined(.passing)
        case .malformed: self = .undetermined(.perhapsTheReceipt)
        case _ where status.isDataAccessError: self = .undetermined(retryFlag == false ? .lasting : .passing)
        default: self = .undetermined(.lasting)
        }
    }
}
