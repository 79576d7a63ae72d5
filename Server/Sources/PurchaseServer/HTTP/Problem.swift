import Foundation
import HTTPTypes
import Hummingbird
import LegacyLedger
import NIOCore
import PurchaseAPI

/// An error as its sender is told of it (RFC 9457). Every error of the server becomes one of these, and here becomes an answer.
struct Problem: Error {
    let status: HTTPResponse.Status
    /// The stable code.
    let code: String
    /// A sentence for people.
    var detail: String?
    /// What was asked for.
    var expected: String?
    /// What was found instead.
    var found: String?
    /// After how many seconds it makes sense to try again.
    var retryAfter: Int?
    /// Of a purchase: its submission in the record.
    var submissionID: String?

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

    /// A status that says all there is to say.
    init(_ status: HTTPResponse.Status) {
        self.init(status, status.reasonPhrase.lowercased().replacing(" ", with: "_"))
    }

    init(_ refusal: LedgerRefusal) {
        self.init(
            HTTPResponse.Status(named: refusal.code.status), refusal.code.rawValue, refusal.code.sentence,
            expected: refusal.expected, found: refusal.found)
        submissionID = refusal.submissionID
    }

    init(_ rejection: Rejection) {
        self.init(
            HTTPResponse.Status(named: rejection.status), rejection.code, rejection.sentence,
            expected: rejection.expected, found: rejection.found)
    }

    /// Trouble with the database passes, unless it is a mistake of ours. The engine's words are for the log.
    init(_ error: LedgerStorageError) {
        switch error.kind {
        case .constraint, .other: self.init(.internalServerError, error.kind.rawValue, error.kind.sentence)
        default: self.init(.serviceUnavailable, error.kind.rawValue, error.kind.sentence, retryAfter: 1)
        }
    }

    init(_ fault: BodyFault) {
        switch fault {
        case .tooLarge: self.init(fault.rejection)
        case .noRoom:
            self.init(
                .serviceUnavailable, "server_busy", "Too many bodies are held at the same time.", retryAfter: 1)
        case .incomplete: self.init(.badRequest, "request_incomplete", "The body did not arrive.")
        }
    }

    init(_: WorkersBusy) {
        self.init(.serviceUnavailable, "server_busy", "Too many requests wait to be verified.", retryAfter: 1)
    }

    init(_ outcome: PurchaseOutcome) {
        self.init(
            HTTPResponse.Status(named: outcome.status), outcome.code, outcome.sentence,
            expected: outcome.expected,
            found: outcome.found)
        submissionID = outcome.submissionID
    }

    /// The document.
    var document: ProblemDocument {
        ProblemDocument(
            title: status.reasonPhrase, status: status.code, code: code, detail: detail, expected: expected,
            found: found, verdict: submissionID.map { _ in .rejected }, replayed: submissionID.map { _ in false },
            submissionID: submissionID)
    }

    /// The answer.
    func response() -> Response {
        var headers: HTTPFields = [.contentType: ProblemDocument.contentType]
        if let retryAfter { headers[.retryAfter] = "\(retryAfter)" }
        if status == .unauthorized { headers[.wwwAuthenticate] = "Bearer" }
        return Response(
            status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: document.json())))
    }
}

extension BodyFault {
    /// How a purchase whose body was not read is recorded.
    var rejection: Rejection {
        switch self {
        case .tooLarge(let limit): Rejection(.bodyTooLarge, expected: "at most \(limit) bytes")
        case .noRoom, .incomplete: Rejection(.bodyMalformed)
        }
    }
}

extension HTTPResponse.Status {
    /// A status with its name, which the code alone does not give it.
    init(named code: Int) {
        let known: [HTTPResponse.Status] = [
            .ok, .created, .badRequest, .unauthorized, .forbidden, .notFound, .conflict, .contentTooLarge,
            .unprocessableContent, .tooManyRequests, .internalServerError, .serviceUnavailable,
        ]
        self = known.first { $0.code == code } ?? HTTPResponse.Status(code: code)
    }
}
