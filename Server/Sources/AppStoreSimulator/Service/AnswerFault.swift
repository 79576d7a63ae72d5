import Foundation
import PurchaseAPI

/// A fault of the next answers of `verifyReceipt`.
struct AnswerFault: Codable, Equatable, RequestBody {
    var kind: Kind
    /// For the kind `status`: 0, 21000 to 21010, 21100 to 21199.
    var status: Int?
    /// The retry flag; by default it is present and true with 21100 to 21199.
    var isRetryable: Bool?
    /// The spelling of the flag.
    var spelling: VerifyReceiptResponse.RetryFlag.Spelling?
    /// A further field beside the flag.
    var exception: String?
    /// The delay of the answer, in addition to any other fault.
    var milliseconds: Int?
    /// The number of answers that the fault still applies to.
    var count: Int

    enum Kind: String, Codable, Sendable, CaseIterable {
        /// An answer with a different status.
        case status
        /// A delay and nothing else.
        case latency
        /// The connection is reset without an answer.
        case reset
        /// 503, like a proxy whose backend is down.
        case outage
        /// The true answer, broken off in the middle.
        case brokenJSON = "broken-json"

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
        count = try container.decodeIfPresent(Int.self, forKey: .count) ?? 1
    }

    static let members: [BodyMember] = [
        "kind", "status", "is_retryable", "spelling", "exception", "milliseconds", "count",
    ]

    func check() throws(StoreError) {
        guard (1...1_000_000).contains(count) else {
            throw StoreError(.invalidValue, "'count' is 1 to 1000000 answers, not \(count).")
        }
        guard (0...600_000).contains(milliseconds ?? 0), kind != .latency || milliseconds != nil else {
            throw StoreError(.invalidValue, "A latency has 0 to 600000 milliseconds.")
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

/// A fault of the next evidence that the store signs.
struct EvidenceFault: Codable, Equatable, Sendable {
    var kind: Kind
    /// The name of the fault.
    var fault: String
    /// The number of pieces of evidence that the fault still applies to.
    var count: Int

    enum Kind: String, Codable, Sendable, CaseIterable {
        case appReceipt = "app_receipt"
        case transactionReceipt = "transaction_receipt"
        case signedTransaction = "signed_transaction"
        case signedRenewalInfo = "signed_renewal_info"
        case appTransaction = "app_transaction"
        case notification

        /// Reads one of the words above.
        init(from decoder: any Decoder) throws { self = try Self.word(from: decoder) }
    }
}
