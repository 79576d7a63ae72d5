public import PurchaseAPI

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
