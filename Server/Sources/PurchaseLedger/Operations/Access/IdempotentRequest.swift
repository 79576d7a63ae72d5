import Crypto
import Foundation
import PurchaseVerification

/// A request that its sender may repeat without executing it twice. It is used for orders and consumption only: a claim
/// is idempotent by its transaction. Rejections are never kept, since a setting or time can change them.
public struct IdempotentRequest: Sendable {
    /// SHA-256 of the sender and the key, so that senders do not share keys.
    let scope: [UInt8]
    /// SHA-256 of the request, so that a different request with the same key is detected.
    let fingerprint: [UInt8]

    /// - Parameters:
    ///   - sender: what identifies the sender, such as the app and the id of the API key.
    ///   - key: the header `Idempotency-Key`.
    ///   - method: the method of the request.
    ///   - path: its path.
    ///   - body: its body.
    public init(sender: [String], key: String, method: String, path: String, body: [UInt8]) {
        var scopeHash = SHA256()
        for word in sender + [key] { scopeHash.update(data: Data("\(word.utf8.count):\(word)\n".utf8)) }
        scope = Array(scopeHash.finalize())
        var hash = SHA256()
        hash.update(data: Data("\(method) \(path)\n".utf8))
        hash.update(data: body)
        fingerprint = Array(hash.finalize())
    }

    /// The journal entry of the same request, if it was executed before.
    ///
    /// - Throws: `idempotency_key_reused` if it was another request.
    func earlierEntry(_ transaction: LedgerTransaction) throws -> JournalRow? {
        guard let earlier = try IdempotencyTable(connection: transaction.connection).entry(scope: scope) else {
            return nil
        }
        guard earlier.requestSHA256 == fingerprint else { throw LedgerRefusal(.idempotencyKeyReused) }
        guard let row = try JournalTable(connection: transaction.connection).row(key: earlier.entryKey) else {
            throw LedgerStorageError(.corrupt, "there is no entry \(earlier.entryKey)")
        }
        return row
    }

    /// Stores the entry of the request.
    func keep(_ entry: JournalEntry, _ transaction: LedgerTransaction) throws(LedgerStorageError) {
        try IdempotencyTable(connection: transaction.connection).insert(
            scope: scope, requestSHA256: fingerprint, entryKey: entry.key, at: transaction.now)
    }
}

/// Deletes old idempotency keys.
public struct ForgetIdempotencyKeys: LedgerOperation {
    /// The age from which keys are deleted, in milliseconds.
    public var age: Int64

    /// Deletes keys from an age on, in milliseconds.
    public init(age: Int64) { self.age = age }

    public var locks: LedgerLocks { .parts([]) }

    public func perform(_ transaction: LedgerTransaction) throws -> Int {
        try IdempotencyTable(connection: transaction.connection).delete(
            before: Timestamp(millisecondsSince1970: transaction.now.millisecondsSince1970 - age))
    }
}
