public import PurchaseVerification

/// The reason why a call of the App Store Server API has no answer that is believed.
public struct AppStoreServerError: Error, Sendable, CustomStringConvertible {
    public let code: Code
    /// The environment that was asked last.
    public let environment: ValidationEnvironment
    /// A description of what was received. It contains no key and no token, and at most 400 bytes of text.
    public let seen: String
    /// Apple's number, also one that this version does not know.
    public let number: AppStoreErrorNumber?
    public let httpStatus: Int?
    /// Why signed data of the answer is not believed.
    public let verification: VerificationError?
    /// Whether the pages of a list lead to each other, or have no end.
    public let isEndless: Bool
    /// The earliest time to call again, from now. An earlier call is unlikely to succeed, or is not made.
    public let retryAfter: Duration
    /// The flaws of a report's line items (Apple, "SendReportErrorResponse").
    public internal(set) var flaws: [LineItemFlaw] = []

    /// What Apple says against a member of a line item.
    public struct LineItemFlaw: Sendable {
        public let number: AppStoreErrorNumber
        public let field: String
        public let lineItemID: String
    }

    public init(
        _ code: Code, _ environment: ValidationEnvironment, seen: String, number: AppStoreErrorNumber? = nil,
        httpStatus: Int? = nil, verification: VerificationError? = nil, isEndless: Bool = false,
        retryAfter: Duration = .seconds(5)
    ) {
        self.code = code
        self.environment = environment
        self.seen = String(decoding: seen.utf8.prefix(400), as: UTF8.self)
        self.number = number
        self.httpStatus = httpStatus
        self.verification = verification
        self.isEndless = isEndless
        self.retryAfter = retryAfter
    }

    /// Whether Apple gave a final answer. Every other error says nothing about what was asked; ask again.
    public var isFinal: Bool { code == .refused }

    /// Whether the App Store does not know what was asked for.
    public var isNotFound: Bool { code == .refused && number.map { $0.isNotFound } ?? false }

    /// The stable codes.
    public enum Code: String, Sendable, CaseIterable {
        /// Apple refused the call, and says why by `number`.
        case refused = "app_store_refused"
        /// Apple accepts none of the keys (401). The operator has to correct them.
        case unauthorized = "app_store_unauthorized"
        /// No call was made, or Apple answered 429: the limit of the app is used up.
        case rateLimited = "app_store_rate_limited"
        /// Apple says that it cannot answer now: an HTTP status from 500, or a number whose name ends in "Retryable".
        case unavailable = "app_store_unavailable"
        /// Signed data of the answer does not verify, or is of another app or environment.
        case unverified = "app_store_unverified"
        /// The answer is about something else.
        case otherAnswer = "app_store_other_answer"
        /// The answer was signed long before it was asked for.
        case oldAnswer = "app_store_old_answer"
        /// The connection was refused, reset, or closed before the end of the reply, or the name has no address.
        case unreachable = "app_store_unreachable"
        /// No connection, or no bytes, or no whole reply in time.
        case timeout = "app_store_timeout"
        /// The certificate of the server was not valid.
        case certificate = "app_store_certificate"
        /// The reply had an HTTP status without a number of Apple's, such as a redirect.
        case httpStatus = "app_store_http_status"
        /// The reply was not JSON of the operation.
        case unreadable = "app_store_unreadable"
        /// The reply exceeded the size limit.
        case tooLarge = "app_store_too_large"
        /// No call was made, because the last ones had no answer (the circuit breaker is open).
        case circuitOpen = "app_store_circuit_open"
        /// No call was made, because too many others of the app wait.
        case busy = "app_store_busy"
        /// No call was made: the app has no key, or the environment does not have the operation.
        case notConfigured = "app_store_not_configured"
        /// The client was closed before there was an answer.
        case cancelled = "app_store_cancelled"
    }

    public var description: String {
        let number = number.map { ", number \($0.rawValue)" } ?? ""
        return "\(code.rawValue): \(seen)\(number) (\(environment.rawValue))"
    }
}
