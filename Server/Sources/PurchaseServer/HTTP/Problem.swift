import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PurchaseAPI
import PurchaseLedger

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

    init(_ outcome: PurchaseOutcome) {
        self.init(
            HTTPResponse.Status(named: outcome.status), outcome.code, outcome.sentence,
            expected: outcome.expected,
            found: outcome.found)
        submissionID = outcome.submissionID
    }

    static let contentType = "application/problem+json"

    /// The document.
    func json() -> [UInt8] {
        var json = JSONWriter(capacity: 256)
        json.object { json in
            json.key("type")
            json.string("about:blank")
            json.key("title")
            json.string(status.reasonPhrase)
            json.key("status")
            json.number(status.code)
            json.key("code")
            json.string(code)
            for (key, value) in [("detail", detail), ("expected", expected), ("found", found)]
                as [(StaticString, String?)]
            {
                guard let value else { continue }
                json.key(key)
                json.string(value)
            }
            if let submissionID {
                json.key("verdict")
                json.string(Verdict.rejected.rawValue)
                json.key("replayed")
                json.boolean(false)
                json.key("submission_id")
                json.string(submissionID)
            }
        }
        return json.bytes
    }

    /// The answer.
    func response() -> Response {
        var headers: HTTPFields = [.contentType: Self.contentType]
        if let retryAfter { headers[.retryAfter] = "\(retryAfter)" }
        if status == .unauthorized { headers[.wwwAuthenticate] = "Bearer" }
        return Response(
            status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: json())))
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
