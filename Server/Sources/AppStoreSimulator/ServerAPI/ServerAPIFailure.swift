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
    static let rateLimitExceeded = ServerAPIFailure(4_290_000, "Too many requests.")
    static let generalInternal = ServerAPIFailure(5_000_000, "Something failed.")
    static let retryableInternal = ServerAPIFailure(5_000_001, "Something failed; send the request again.")
}
