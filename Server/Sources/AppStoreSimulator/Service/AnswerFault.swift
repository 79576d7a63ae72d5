import Foundation
import PurchaseAPI

/// A fault of the next answers of `verifyReceipt`.
struct AnswerFault: Codable, Equatable, RequestBody {
    var kind: Kind
    /// For the kind `status`: 0, 21000 to 21010, 21100 to 21199.
    var status: Int?
    /// The retry flag; by default it is present and true with 21100 to 21199.
    var isRetryable: Bool?
    var spelling: VerifyReceiptResponse.RetryFlag.Spelling?
    /// A further field beside the flag.
    var exception: String?
    /// The delay of the answer, in addition to any other fault.
    var milliseconds: Int?
    /// For the kind `edited`: the edited field; by default the expiry.
    var edit: Edit?
    /// For the kind `huge-body`: its size; by default a byte more than 32 MiB.
    var bytes: Int?
    /// The time of the store's clock from which on the fault applies.
    var from: Date?
    /// The time of the store's clock at which the fault ends. A fault with an end applies to all answers until then,
    /// and its count is ignored.
    var until: Date?
    /// The number of answers that the fault still applies to.
    var count: Int

    enum Kind: String, Codable, Sendable, CaseIterable {
        case status, latency, reset, outage, redirect, html, edited
        case brokenJSON = "broken-json"
        case slowBody = "slow-body"
        case hugeBody = "huge-body"
        case closedBody = "closed-body"
        case anotherReceipt = "another-receipt"

        /// Reads one of the words above.
        init(from decoder: any Decoder) throws { self = try Self.word(from: decoder) }

        /// A description of the answer.
        var explanation: String {
            switch self {
            case .status: "an answer with the named status"
            case .latency: "the true answer, late"
            case .reset: "the connection is reset without an answer"
            case .outage: "503, like a proxy whose backend is down"
            case .redirect: "a 307 redirect to the same address, which then gives the true answer"
            case .html: "200 with a page instead of JSON"
            case .edited: "the true answer with one field changed, like a forged answer"
            case .brokenJSON: "the true answer, cut off in the middle"
            case .slowBody: "the head and half of the body at once, the rest after the milliseconds (60000)"
            case .hugeBody: "an answer of 32 MiB and a byte, in chunks"
            case .closedBody: "the head of an answer; then the connection is closed"
            case .anotherReceipt: "the true answer to another receipt of the app, or to one without purchases"
            }
        }
    }

    /// The field that an edited answer changes.
    enum Edit: String, Codable, Sendable, CaseIterable {
        /// Every product has another id.
        case product
        /// Every expiry is in 2099.
        case expiry
        /// Every transaction has another id.
        case transaction
        /// The bundle id is a different one.
        case bundle
        /// The other environment.
        case environment
        /// Every quantity is ten more.
        case quantity
        /// No purchase is cancelled.
        case cancellation
        /// There are no purchases.
        case empty

        /// Reads one of the words above.
        init(from decoder: any Decoder) throws { self = try Self.word(from: decoder) }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        kind = try container.decode(Kind.self, forKey: .kind)
        status = try container.decodeIfPresent(Int.self, forKey: .status)
        isRetryable = try container.decodeIfPresent(Bool.self, forKey: .isRetryable)
        spelling = try container.decodeIfPresent(
            VerifyReceiptResponse.RetryFlag.Spelling.self, forKey: .spelling)
        exception = try container.decodeIfPresent(String.self, forKey: .exception)
        milliseconds = try container.decodeIfPresent(Int.self, forKey: .milliseconds)
        edit = try container.decodeIfPresent(Edit.self, forKey: .edit)
        bytes = try container.decodeIfPresent(Int.self, forKey: .bytes)
        from = try container.decodeIfPresent(Date.self, forKey: .from)
        until = try container.decodeIfPresent(Date.self, forKey: .until)
        count = try container.decodeIfPresent(Int.self, forKey: .count) ?? 1
    }

    static let members: [BodyMember] = [
        "kind", "status", "is_retryable", "spelling", "exception", "milliseconds", "edit", "bytes", "from", "until",
        "count",
    ]

    /// Whether the fault applies at a time of the store's clock.
    func applies(at now: Date) -> Bool { from.map { $0 <= now } ?? true }

    /// Whether the fault is over for good.
    func isOver(at now: Date) -> Bool { until.map { $0 <= now } ?? (count <= 0) }

    func check() throws(StoreError) {
        guard (1...1_000_000).contains(count) else {
            throw StoreError(.invalidValue, "'count' is 1 to 1000000 answers, not \(count).")
        }
        guard (0...600_000).contains(milliseconds ?? 0), kind != .latency || milliseconds != nil else {
            throw StoreError(.invalidValue, "A latency has 0 to 600000 milliseconds.")
        }
        guard (1...(64 << 20)).contains(bytes ?? 1) else {
            throw StoreError(.invalidValue, "'bytes' is 1 to 67108864.")
        }
        if let from, let until, until <= from {
            throw StoreError(.invalidValue, "The fault ends before it begins.")
        }
        guard kind == .status else { return }
        guard let status, VerifyReceiptStatus(rawValue: status).isKnown else {
            throw StoreError(.invalidValue, "The status is 0, 21000 to 21010 or 21100 to 21199.")
        }
    }

    /// The answer with this status instead of the true one.
    func response(environment: String) -> VerifyReceiptResponse {
        let status = VerifyReceiptStatus(rawValue: status ?? 0)
        var response = VerifyReceiptResponse(status: status)
        let retries = isRetryable ?? (status.isDataAccessError ? true : status == .accountNotFound ? false : nil)
        guard let retries else { return response }
        response.environment = environment
        response.retryFlag = VerifyReceiptResponse.RetryFlag(retries, spelling: spelling ?? .underscore)
        response.exception = exception ?? "assay.simulator.InjectedException"
        return response
    }
}
