import Foundation
import PurchaseAPI

/// An error of the App Store Server API: the numbers are Apple's, the texts are not.
struct ServerAPIFailure: Error, Hashable, Sendable {
    let status: Int
    /// Apple's number; nil if Apple's pages name the error without one.
    let code: Int64?
    let message: String
    let hasBody: Bool

    init(_ status: Int, _ code: Int64?, _ message: String, hasBody: Bool = true) {
        (self.status, self.code, self.message, self.hasBody) = (status, code, message, hasBody)
    }

    /// An error with one of Apple's numbers, whose first three digits are the status.
    init(_ code: Int64, _ message: String) { self.init(Int(code / 10_000), code, message) }

    /// A path that the environment does not have.
    static let noSuchPath = ServerAPIFailure(404, nil, "", hasBody: false)

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

/// A fault of the next answers of the App Store Server API.
struct ServerAPIFault: InjectedFault {
    var kind: Kind
    /// Only answers of this operation; nil for all.
    var operation: ServerAPIOperation?
    /// Only answers of this environment; nil for both.
    var environment: StoreEnvironment?
    /// For the kind `error`: the HTTP status; by default it follows from the code.
    var status: Int?
    /// For the kind `error`: Apple's number; without it the answer has no JSON.
    var code: Int64?
    /// The delay of the answer, in addition to any other fault; for `too-many-requests`, the time until the next
    /// request may be sent.
    var milliseconds: Int?
    /// For the kind `huge-body`: its size; by default a byte more than 32 MiB.
    var bytes: Int?
    var from: Date?
    var until: Date?
    @OneByDefault var count: Int

    enum Kind: String, Codable, Sendable, Word {
        case latency, silence, reset, outage, html, error, retryable, unauthorized, stale
        case tooManyRequests = "too-many-requests"
        case brokenJSON = "broken-json"
        case wrongTypes = "wrong-types"
        case emptyObject = "empty-object"
        case slowBody = "slow-body"
        case hugeBody = "huge-body"
        case closedBody = "closed-body"
        case anotherTransaction = "another-transaction"
        case anotherApp = "another-app"

        /// A description of the answer.
        var explanation: String {
            switch self {
            case .latency: "the true answer, late"
            case .silence: "no answer; the connection stays open for the milliseconds (600000)"
            case .reset: "the request is carried out, and the connection is reset without an answer"
            case .outage: "503, like a proxy whose backend is down; nothing is carried out"
            case .html: "200 with a page instead of JSON"
            case .error: "the named status and Apple's number; nothing is carried out"
            case .retryable: "500 with 5000001, which asks to try again; nothing is carried out"
            case .unauthorized: "401, as for an app that was never released, or a key that Apple does not know yet"
            case .stale: "the answer of the moment at which this fault was set; only for questions"
            case .tooManyRequests: "429 with Retry-After in milliseconds since 1970; nothing is carried out"
            case .brokenJSON: "the true answer, cut off in the middle"
            case .wrongTypes: "the true answer with numbers and Booleans as texts"
            case .emptyObject: "200 with {}"
            case .slowBody: "the head and half of the body at once, the rest after the milliseconds (60000)"
            case .hugeBody: "an answer of 32 MiB and a byte, in chunks"
            case .closedBody: "the head of an answer; then the connection is closed"
            case .anotherTransaction: "the true answer about another customer's transaction, of the same app"
            case .anotherApp: "the true answer about a transaction of another app"
            }
        }
    }

    static let members: [BodyMember] = [
        "kind", "operation", "environment", "status", "code", "milliseconds", "bytes", "from", "until", "count",
    ]

    func hits(_ request: ServerAPIRequest) -> Bool {
        (operation.map { $0 == request.operation } ?? true) && (environment.map { $0 == request.environment } ?? true)
    }

    func check() throws(StoreError) {
        try checkTerms()
        guard kind == .error else { return }
        let status = status ?? Int(clamping: (code ?? 0) / 10_000)
        guard (400...599).contains(status) else {
            throw StoreError(.invalidValue, "An error has a 'status' of 400 to 599, or a 'code' such as 4040010.")
        }
    }

    /// The answer in place of the true one, if nothing is carried out.
    func answer(_ world: Date) -> ServerAPIAnswer? {
        switch kind {
        case .outage: return ServerAPIAnswer(status: 503)
        case .retryable: return ServerAPIAnswer(.retryableInternal)
        case .emptyObject: return ServerAPIAnswer([])
        case .unauthorized: return ServerAPIAnswer(.requested)
        case .tooManyRequests:
            var answer = ServerAPIAnswer(.rateLimitExceeded)
            answer.retryAfter = Int64((world.timeIntervalSince1970 * 1000).rounded()) + Int64(milliseconds ?? 1000)
            return answer
        case .error:
            guard let code else { return ServerAPIAnswer(status: status ?? 500) }
            return ServerAPIAnswer(ServerAPIFailure(status ?? Int(code / 10_000), code, "A requested error."))
        default: return nil
        }
    }
}
