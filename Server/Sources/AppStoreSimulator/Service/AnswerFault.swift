import Foundation
import PurchaseAPI

/// What is wrong with the next answers of `verifyReceipt`.
struct AnswerFault: Codable, Equatable, Sendable {
    var kind: Kind
    /// Of the kind `status`: 0, 21000 to 21010, 21100 to 21199.
    var status: Int?
    /// The retry flag; by default there is one with 21100 to 21199, and it is true.
    var isRetryable: Bool?
    /// How the flag is spelled.
    var spelling: VerifyReceiptResponse.RetryFlag.Spelling?
    /// Goes beside the flag.
    var exception: String?
    /// How long the answer takes, whatever else is wrong with it.
    var milliseconds: Int?
    /// How many answers are left that it concerns.
    var count: Int

    enum Kind: String, Codable, Sendable, CaseIterable {
        /// Another status than the true one.
        case status
        /// Nothing but time.
        case latency
        /// The connection is reset without an answer.
        case reset
        /// 503, as of a proxy with nobody behind it.
        case outage
        /// The true answer, broken off in the middle.
        case brokenJSON = "broken-json"
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

    func check() throws(StoreError) {
        guard (1...1_000_000).contains(count) else {
            throw StoreError(.invalidValue, "A fault concerns 1 to 1000000 answers, not \(count).")
        }
        guard (0...600_000).contains(milliseconds ?? 0), kind != .latency || milliseconds != nil else {
            throw StoreError(.invalidValue, "A latency has 0 to 600000 milliseconds.")
        }
        guard kind == .status else { return }
        guard let status, VerifyReceiptStatus(rawValue: status).isKnown else {
            throw StoreError(.invalidValue, "The status is 0, 21000 to 21010 or 21100 to 21199.")
        }
    }

    /// The answer with this status in place of the true one.
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

/// What is wrong with the next evidence that the store signs.
struct EvidenceFault: Codable, Equatable, Sendable {
    var kind: Kind
    /// The name of the fault.
    var fault: String
    /// How many pieces of evidence are left that it concerns.
    var count: Int

    enum Kind: String, Codable, Sendable, CaseIterable {
        case appReceipt = "app_receipt"
        case transactionReceipt = "transaction_receipt"
        case signedTransaction = "signed_transaction"
        case signedRenewalInfo = "signed_renewal_info"
        case appTransaction = "app_transaction"
        case notification
    }
}
