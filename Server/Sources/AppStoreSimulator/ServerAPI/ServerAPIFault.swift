import Foundation
import PurchaseAPI

/// A fault of the next answers of the App Store Server API.
struct ServerAPIFault: Codable, Equatable, InjectedFault {
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

    /// Whether it hits a request.
    func hits(_ request: ServerAPIRequest) -> Bool {
        (operation.map { $0 == request.operation } ?? true) && (environment.map { $0 == request.environment } ?? true)
    }

    var isLatency: Bool { kind == .latency }

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
        case .latency, .silence, .reset, .html, .stale, .brokenJSON, .wrongTypes, .slowBody, .hugeBody, .closedBody,
            .anotherTransaction, .anotherApp:
            return nil
        }
    }
}
