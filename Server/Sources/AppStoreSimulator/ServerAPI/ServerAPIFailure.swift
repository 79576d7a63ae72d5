/// An error of the App Store Server API: the numbers are Apple's, the texts are not.
struct ServerAPIFailure: Error, Hashable, Sendable {
    let status: Int
    /// Apple's number; nil if Apple's pages name the error without one.
    let code: Int64?
    let message: String
    /// Whether the answer has JSON.
    var hasBody = true

    init(_ status: Int, _ code: Int64?, _ message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    /// An error with one of Apple's numbers, whose first three digits are the status.
    init(_ code: Int64, _ message: String) {
        self.init(Int(code / 10_000), code, message)
    }

    /// A path that the environment does not have.
    static let noSuchPath = {
        var failure = ServerAPIFailure(404, nil, "")
        failure.hasBody = false
        return failure
    }()

    static let generalBadRequest = ServerAPIFailure(4_000_000, "The request is malformed.")
    static let invalidTransactionID = ServerAPIFailure(4_000_006, "The transaction identifier has a wrong form.")
    static let invalidOriginalTransactionID = ServerAPIFailure(
        4_000_008, "The original transaction identifier has a wrong form.")
    static let appTransactionIDUnsupported = ServerAPIFailure(
        4_000_048, "This call takes no app transaction identifier.")
    static let familySharedUnsupported = ServerAPIFailure(
        4_000_185, "The transaction is shared by a family member.")
    static let assignedUnsupported = ServerAPIFailure(4_000_227, "The transaction is an assigned seat.")
    static let unknownOriginalTransactionID = ServerAPIFailure(
        4_040_005, "The app has no such original transaction in this environment.")
    static let unknownTransactionID = ServerAPIFailure(
        4_040_010, "The app has no such transaction in this environment.")
    static let unknownPaginationToken = ServerAPIFailure(4_000_014, "The pagination token is none of this question.")
    static let rateLimitExceeded = ServerAPIFailure(4_290_000, "Too many requests.")
    static let generalInternal = ServerAPIFailure(5_000_000, "Something failed.")
    static let retryableInternal = ServerAPIFailure(5_000_001, "Something failed; send the request again.")
}

/// The reasons for 401, by their names in the header `Assay-Reason`. Apple's body is the same for all.
enum ServerAPITokenFault: String, Error, Sendable, CaseIterable {
    /// No header `Authorization`, or one of another scheme than `Bearer`.
    case missing = "token_missing"
    /// No JWT of three parts with JSON.
    case malformed = "token_malformed"
    /// `alg` is not ES256.
    case wrongAlgorithm = "token_wrong_algorithm"
    /// `typ` is not JWT.
    case wrongType = "token_wrong_type"
    /// The store has no key `kid`, or it was deleted.
    case unknownKey = "token_unknown_key"
    /// The signature is not by that key.
    case wrongSignature = "token_wrong_signature"
    /// `iss` is not the issuer of the key.
    case wrongIssuer = "token_wrong_issuer"
    /// `aud` is not `appstoreconnect-v1`.
    case wrongAudience = "token_wrong_audience"
    /// `bid` is missing, no app, or not the app of the key.
    case wrongBundleID = "token_wrong_bundle_id"
    /// `exp` is missing or no time.
    case missingExpiry = "token_missing_expiry"
    /// `exp` is past.
    case expired = "token_expired"
    /// `exp` is more than 60 minutes after `iat`, or after now.
    case lastsTooLong = "token_lasts_too_long"
    /// `iat` is in the future.
    case fromTheFuture = "token_from_the_future"
    /// The app was never released; only the sandbox knows it.
    case unreleasedApp = "app_not_released"
    /// A requested fault.
    case requested = "requested_fault"
}
