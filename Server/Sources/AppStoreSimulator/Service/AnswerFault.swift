import Foundation
import PurchaseAPI

/// A fault of the next answers of `verifyReceipt`.
struct AnswerFault: InjectedFault {
    var kind: Kind
    /// For the kind `status`: 0, 21000 to 21010, 21100 to 21199.
    var status: Int?
    /// The retry flag; by default it is present and true with 21100 to 21199.
    var isRetryable: Bool?
    var spelling: VerifyReceiptResponse.RetryFlag.Spelling?
    /// A further field beside the flag.
    var exception: String?
    var milliseconds: Int?
    /// For the kind `edited`: the edited field; by default the expiry.
    var edit: Edit?
    /// For the kind `huge-body`: its size; by default a byte more than 32 MiB.
    var bytes: Int?
    var from: Date?
    var until: Date?
    @OneByDefault var count: Int

    enum Kind: String, Codable, Sendable, Word {
        case status, latency, reset, outage, redirect, html, edited
        case brokenJSON = "broken-json"
        case slowBody = "slow-body"
        case hugeBody = "huge-body"
        case closedBody = "closed-body"
        case anotherReceipt = "another-receipt"

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
    enum Edit: String, Codable, Sendable, Word {
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
    }

    static let members: [BodyMember] = [
        "kind", "status", "is_retryable", "spelling", "exception", "milliseconds", "edit", "bytes", "from", "until",
        "count",
    ]

    func check() throws(StoreError) {
        try checkTerms()
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

/// A fault of the connection or of the bytes of an answer, whatever the answer says.
struct TransportFault: Sendable {
    /// Nil for an answer that is only late.
    var kind: Kind?
    /// The delay of the answer; for a slow body that of its second half.
    var milliseconds: Int?
    /// The size of a huge body.
    var bytes: Int?

    /// The words are those of the faults of answers.
    enum Kind: String, Sendable {
        case reset, silence, outage, redirect, html
        case brokenJSON = "broken-json"
        case slowBody = "slow-body"
        case hugeBody = "huge-body"
        case closedBody = "closed-body"
    }
}

extension InjectedFault {
    /// The part of the fault that does not depend on the answer.
    var transport: TransportFault {
        // The milliseconds of a 429 are in its header.
        TransportFault(
            kind: TransportFault.Kind(rawValue: kind.rawValue),
            milliseconds: kind.rawValue == ServerAPIFault.Kind.tooManyRequests.rawValue ? nil : milliseconds,
            bytes: bytes)
    }
}
