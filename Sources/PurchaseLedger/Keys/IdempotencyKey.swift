import Crypto
import Foundation
public import PurchaseVerification

/// A request that its sender may repeat without having it done twice.
public struct IdempotentRequest: Sendable {
    /// Whose key it is: keys of one sender mean nothing to another.
    public var scope: String
    /// What the sender calls the request.
    public var key: String
    /// What was asked, so that another request under the same key is noticed.
    public var fingerprint: String

    /// - Parameters:
    ///   - scope: the sender.
    ///   - key: the header `Idempotency-Key`.
    ///   - method: the method of the request.
    ///   - path: its path.
    ///   - body: its body.
    public init(scope: String, key: String, method: String, path: String, body: [UInt8]) {
        self.scope = scope
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

    /// An answer.
    public init(status: Int, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }
}

extension LedgerTransaction {
    /// Answers a request once: the same one again gets the answer of the first time. The answer is kept in the transaction of
    /// what it tells of, so neither is ever there without the other.
    ///
    /// - Throws: `LedgerRefusal` with `idempotency_key_reused` for another request under the same key; what `answer` throws.
    public func once(_ request: IdempotentRequest?, _ answer: () throws -> KeptAnswer) throws -> KeptAnswer {
        guard let request else { return try answer() }
        let rows = try connection.rows(
            """
            SELECT fingerprint, status, content_type, body FROM idempotency_keys
            WHERE scope = ?1 AND idempotency_key = ?2
            """, [.text(request.scope), .text(request.key)])
        if let row = rows.first {
            var reader = RowReader(row)
            guard try reader.text() == request.fingerprint else { throw LedgerRefusal(.idempotencyKeyReused) }
            return KeptAnswer(
                status: Int(try reader.integer()), contentType: try reader.text(), body: try reader.blob())
        }
        let kept = try answer()
        try connection.execute(
            """
            INSERT INTO idempotency_keys (scope, idempotency_key, fingerprint, status, content_type, body, created_at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """,
            [
                .text(request.scope), .text(request.key), .text(request.fingerprint), .integer(Int64(kept.status)),
                .text(kept.contentType), .blob(kept.body), .time(now),
            ])
        return kept
    }

    /// Forgets answers that were kept before a time.
    ///
    /// - Returns: how many.
    @discardableResult
    public func forgetAnswers(before time: Timestamp) throws(LedgerStorageError) -> Int {
        try connection.execute("DELETE FROM idempotency_keys WHERE created_at < ?1", [.time(time)])
    }
}
