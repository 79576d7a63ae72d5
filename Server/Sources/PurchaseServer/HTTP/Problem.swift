import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

import enum PurchaseLedger.Disposition
import enum PurchaseLedger.PriorClaim

/// An error for the sender (RFC 9457). Every error of the server is converted to one of these, and this to an answer.
struct Problem: Error {
    let status: HTTPResponse.Status
    /// The stable code.
    let code: String
    /// A sentence for people.
    var detail: String?
    /// The expected value.
    var expected: String?
    /// The value found instead.
    var found: String?
    /// The number of seconds after which to try again.
    var retryAfter: Int?
    /// The instruction to the app about its transaction; only problems of purchases and restores have one.
    var disposition: Disposition?
    /// The holder of an earlier claim.
    var claimedBy: PriorClaim?
    /// The claim in the record; `nil` for a refusal that is only counted.
    var submissionID: String?
    var leafHash: String?
    /// The outcome of the claim.
    var verdict: Verdict?
    /// Whether the same customer claimed the transaction before; only problems of claims say it.
    var isReplayed: Bool?
    /// The customer into whom the claim's customer was merged.
    var mergedInto: String?
    /// What the sender of a claim should correct besides.
    var warnings: [WarningMessage]?

    init(
        _ status: HTTPResponse.Status, _ code: String, _ detail: String? = nil, expected: String? = nil,
        found: String? = nil, retryAfter: Int? = nil
    ) {
        self.status = status
        self.code = code
        self.detail = detail
        self.expected = expected
        self.found = found
        self.retryAfter = retryAfter
    }

    /// A problem that is fully described by its status.
    ///
    /// - Parameter paths: where the paths of the listener are.
    init(_ status: HTTPResponse.Status, paths: String = "GET /openapi.yaml lists all paths") {
        // Only the router answers 404 without a code.
        let detail = status == .notFound ? "The path does not exist; \(paths)." : nil
        self.init(status, status.reasonPhrase.lowercased().replacing(" ", with: "_"), detail)
    }

    init(_ refusal: LedgerRefusal) {
        self.init(refusal.code, expected: refusal.expected, found: refusal.found)
    }

    init(_ code: LedgerRefusal.Code, expected: String? = nil, found: String? = nil) {
        self.init(HTTPResponse.Status(code), code.rawValue, code.sentence, expected: expected, found: found)
    }

    init(_ rejection: Rejection) {
        self.init(
            HTTPResponse.Status(rejection.reason), rejection.code, rejection.detail, expected: rejection.expected,
            found: rejection.found)
    }

    /// The engine's own message is for the log.
    init(_ error: LedgerStorageError) {
        let status = HTTPResponse.Status(error.kind)
        self.init(
            status, error.kind.rawValue, error.kind.sentence, retryAfter: status == .serviceUnavailable ? 1 : nil)
    }

    init(_ fault: BodyFault) {
        switch fault {
        case .tooLarge: self.init(fault.rejection)
        case .noRoom:
            self.init(
                .serviceUnavailable, "server_busy", "The memory for request bodies is used up.", retryAfter: 1)
        case .incomplete:
            self.init(.badRequest, "request_incomplete", "The body is incomplete.")
            disposition = .retry
        case .digestMismatch:
            self.init(
                .badRequest, "content_digest_mismatch", "The body was changed on the way to the server.",
                expected: "the SHA-256 digest of the body in Content-Digest")
            disposition = .retry
        }
    }

    init(_: WorkersBusy) {
        self.init(.serviceUnavailable, "server_busy", "Too many requests wait to be verified.", retryAfter: 1)
    }

    /// A claim that was rejected, with its entry in the record.
    init(_ outcome: PurchaseOutcome, _ rejection: Rejection) {
        self.init(rejection)
        disposition = outcome.disposition
        claimedBy = outcome.claimedBy
        verdict = outcome.verdict
        if outcome.isCounted {
            warnings = WarningMessage.about([], counted: 1)
        } else {
            submissionID = outcome.submissionID.text
            leafHash = outcome.leafHash.hexadecimal
        }
        isReplayed = outcome.isReplayed
        mergedInto = outcome.mergedInto
        guard outcome.verdict == .undetermined else { return }
        // The claim is being decided, so a request soon after this one finds the outcome.
        let wait = outcome.nextAttemptAt.map {
            ($0.millisecondsSince1970 - Timestamp(Date()).millisecondsSince1970) / 1000 + 1
        }
        retryAfter = Int(min(max(wait ?? 5, 1), 600))
    }

    var document: ProblemDocument {
        ProblemDocument(
            title: status.reasonPhrase, status: status.code, code: code, detail: detail, expected: expected,
            found: found, disposition: disposition.map { PurchaseAPI.Disposition($0) },
            claimedBy: claimedBy.map { PurchaseAPI.PriorClaim($0) },
            verdict: verdict.map { SubmissionVerdict(rawValue: $0.rawValue) },
            replayed: isReplayed, submissionID: submissionID, leafHash: leafHash, mergedInto: mergedInto,
            warnings: warnings)
    }

    /// The answer.
    func response() -> Response {
        var headers: HTTPFields = [.contentType: ProblemDocument.contentType]
        if let retryAfter { headers[.retryAfter] = "\(retryAfter)" }
        if status == .unauthorized { headers[.wwwAuthenticate] = "Bearer" }
        headers[.assayReason] = code
        return Response(
            status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: document.json())))
    }
}

extension BodyFault {
    /// The record of a purchase whose body was not read.
    var rejection: Rejection {
        switch self {
        case .tooLarge(let limit): Rejection(.bodyTooLarge, expected: "at most \(limit) bytes")
        case .noRoom, .incomplete, .digestMismatch: Rejection(.bodyMalformed)
        }
    }
}
