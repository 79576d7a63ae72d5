import Crypto
import Foundation
public import PurchaseVerification

/// A request that its sender may repeat without having it done twice.
public struct IdempotentRequest: Sendable {
    /// Whose key it is: keys of one sender mean nothing to another.
    public let scope: String
    /// What the sender calls the request.
    public let key: String
    /// What was asked, so that another request under the same key is noticed.
    public let fingerprint: String

    /// - Parameters:
    ///   - scope: the sender, in as many words as tell him from others.
    ///   - key: the header `Idempotency-Key`.
    ///   - method: the method of the request.
    ///   - path: its path.
    ///   - body: its body.
    public init(scope: [String], key: String, method: String, path: String, body: [UInt8]) {
        // A digest, because words that come from outside may be of any length.
        var scopeHash = SHA256()
        for word in scope { scopeHash.update(data: Data("\(word.utf8.count):\(word)\n".utf8)) }
        self.scope = hexadecimal(scopeHash.finalize())
        self.key = key
        var hash = SHA256()
        hash.update(data: Data("\(method) \(path)\n".utf8))
        hash.update(data: body)
        fingerprint = hexadecimal(hash.finalize())
    }
}

/// An answer as it was given, to be given again.
public struct KeptAnswer: Sendable, Equatable {
    /// The HTTP status.
    public var status: Int
    public var contentType: String
    public var body: [UInt8]
    /// The submission that it answers, if it answers one.
    public var submissionID: String?

    /// An answer.
    public init(status: Int, contentType: String, body: [UInt8], submissionID: String? = nil) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.submissionID = submissionID
    }
}

extension LedgerTransaction {
    /// Answers a request once: the same one again gets the answer of the first time. The answer is kept in the transaction of
    /// what it tells of, so neither is ever there without the other.
    ///
    /// - Parameters:
    ///   - request: the request; without one the answer is a new one each time.
    ///   - submission: what was submitted with it. It is kept in the record also when nothing is decided about it, because the
    ///     request has its answer already, or is refused.
    ///   - answer: what there is to do the first time.
    /// - Returns: the answer, or the refusal of another request under the same key (`idempotency_key_reused`). It is no error:
    ///   what it wrote must stay.
    /// - Throws: what `answer` throws.
    public func once(
        _ request: IdempotentRequest?, submission: ExaminedSubmission? = nil, _ answer: () throws -> KeptAnswer
    ) throws -> Result<KeptAnswer, LedgerRefusal> {
        guard let request else { return .success(try answer()) }
        let rows = try connection.rows(
            """
            SELECT fingerprint, status, content_type, body, submission_id FROM idempotency_keys
            WHERE scope = ?1 AND idempotency_key = ?2
            """, [.text(request.scope), .text(request.key)])
        if let row = rows.first {
            var reader = RowReader(row)
            guard try reader.text() == request.fingerprint else {
                var refusal = LedgerRefusal(.idempotencyKeyReused)
                if let submission { refusal.submissionID = try recordRefused(submission, refusal) }
                return .failure(refusal)
            }
            let kept = KeptAnswer(
                status: Int(try reader.integer()), contentType: try reader.text(), body: try reader.blob(),
                submissionID: try reader.optionalText())
            if let submission, let first = kept.submissionID { try recordRepeated(submission, of: first) }
            return .success(kept)
        }
        let kept = try answer()
        try connection.execute(
            """
            INSERT INTO idempotency_keys
                (scope, idempotency_key, fingerprint, status, content_type, body, created_at, submission_id)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """,
            [
                .text(request.scope), .text(request.key), .text(request.fingerprint), .integer(Int64(kept.status)),
                .text(kept.contentType), .blob(kept.body), .time(now), .text(kept.submissionID),
            ])
        return .success(kept)
    }

    /// Forgets answers that were kept before a time.
    ///
    /// - Returns: how many.
    @discardableResult
    public func forgetAnswers(before time: Timestamp) throws(LedgerStorageError) -> Int {
        try connection.execute("DELETE FROM idempotency_keys WHERE created_at < ?1", [.time(time)])
    }
}
