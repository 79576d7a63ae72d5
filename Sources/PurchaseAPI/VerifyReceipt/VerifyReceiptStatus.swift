/// The status codes of `verifyReceipt` (Apple, "status").
public struct VerifyReceiptStatus: RawRepresentable, Codable, Sendable, Hashable {
    public let rawValue: Int

    /// Any number, known or not.
    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let valid = VerifyReceiptStatus(rawValue: 0)
    /// The request was not an HTTP POST, or not JSON.
    public static let notPosted = VerifyReceiptStatus(rawValue: 21000)
    /// Apple no longer sends it.
    public static let noLongerSent = VerifyReceiptStatus(rawValue: 21001)
    /// The receipt data is malformed.
    public static let malformed = VerifyReceiptStatus(rawValue: 21002)
    /// The receipt could not be authenticated.
    public static let notAuthenticated = VerifyReceiptStatus(rawValue: 21003)
    /// The shared secret is not the one on file.
    public static let secretMismatch = VerifyReceiptStatus(rawValue: 21004)
    /// The server is temporarily unable to answer.
    public static let temporarilyUnavailable = VerifyReceiptStatus(rawValue: 21005)
    /// The receipt is valid, but the subscription has expired; only for receipts of iOS 6 and earlier.
    public static let expired = VerifyReceiptStatus(rawValue: 21006)
    /// A sandbox receipt at the production address.
    public static let sandboxReceiptAtProduction = VerifyReceiptStatus(rawValue: 21007)
    /// A production receipt at the sandbox address.
    public static let productionReceiptAtSandbox = VerifyReceiptStatus(rawValue: 21008)
    /// Internal data access error; try again later.
    public static let internalError = VerifyReceiptStatus(rawValue: 21009)
    /// The account cannot be found or has been deleted.
    public static let accountNotFound = VerifyReceiptStatus(rawValue: 21010)

    /// 21100 to 21199: internal data access errors, the only ones for which the retry flag has a meaning.
    public var isDataAccessError: Bool { (21100...21199).contains(rawValue) }

    /// Whether Apple's servers send the number.
    public var isKnown: Bool { rawValue == 0 || (21000...21010).contains(rawValue) || isDataAccessError }
}

extension VerifyReceiptResponse {
    /// Whether a retry may help, and the spelling of the flag. Apple's servers write `is_retryable`, its documents
    /// wrote `is-retryable` for years, and clients read one or the other.
    public struct RetryFlag: Sendable, Equatable {
        public var isRetryable: Bool
        public var spelling: Spelling

        public init(_ isRetryable: Bool, spelling: Spelling = .underscore) {
            (self.isRetryable, self.spelling) = (isRetryable, spelling)
        }

        public enum Spelling: String, Codable, Sendable, CaseIterable {
            case underscore, hyphen, both
        }

        func write(to json: inout JSONWriter) {
            if spelling != .hyphen {
                json.key("is_retryable")
                json.boolean(isRetryable)
            }
            if spelling != .underscore {
                json.key("is-retryable")
                json.boolean(isRetryable)
            }
        }
    }
}
