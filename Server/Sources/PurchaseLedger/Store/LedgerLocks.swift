import PurchaseVerification

import struct Foundation.UUID

/// The parts of the ledger that a write reads and changes. Writes with a part in common run one after the other; all
/// others run concurrently.
///
/// Every row that a write reads or changes belongs to a part that it names. An engine with one writer needs no parts.
public enum LedgerLocks: Sendable, Equatable {
    /// The whole ledger: no other write runs at the same time.
    case everything
    /// Several parts of the ledger.
    case parts(Set<LedgerLock>)

    /// The most parts that a transaction locks. PostgreSQL has room for 6,400 locks of all transactions with its
    /// defaults (`max_locks_per_transaction` × `max_connections`), and several servers with four writers share it.
    static let limit = 1_000

    /// The same, or the whole ledger for a write of more parts than a transaction may lock.
    var bounded: LedgerLocks {
        guard case .parts(let parts) = self, parts.count > Self.limit else { return self }
        return .everything
    }
}

/// A part of the ledger that one write at a time may change.
///
/// It is identified by a 64-bit number. If two parts have the same number, their writes wait for each other, which is
/// harmless.
public struct LedgerLock: Sendable, Hashable {
    /// The number, the same in every process.
    public let number: Int64

    /// An original transaction: its transactions, their owners, its lot, acts, revocations and renewal info.
    static func original(_ environment: AppStoreEnvironment, _ id: String) -> LedgerLock {
        LedgerLock(1, environment.name.utf8, id.utf8)
    }

    /// A customer with an outside name: balances, entitlements, orders and manual grants.
    static func customer(_ name: String) -> LedgerLock { LedgerLock(2, name.utf8) }

    /// A customer whose name was erased.
    static func customer(reference: UUID) -> LedgerLock { LedgerLock(3, reference.bytes) }

    /// An order whose customer is not known yet.
    static func order(_ id: UUID) -> LedgerLock { LedgerLock(4, id.bytes) }

    /// The assignment of an account token.
    static func token(_ token: UUID) -> LedgerLock { LedgerLock(5, token.bytes) }

    /// The row of evidence with a hash.
    static func evidence(_ sha256: [UInt8]) -> LedgerLock { LedgerLock(6, sha256) }

    /// The daily budget for unverified evidence.
    static var unverified: LedgerLock { LedgerLock(8, []) }

    /// The Merkle log.
    static var log: LedgerLock { LedgerLock(7, []) }

    /// A webhook: its cursor, its lease and the waiting events.
    package static func webhook(_ app: String, _ url: String) -> LedgerLock { LedgerLock(9, app.utf8, url.utf8) }

    /// The leases of work.
    static var work: LedgerLock { LedgerLock(10, []) }

    /// The operators of the console, their sessions, and the log of their sign-ins.
    static var operators: LedgerLock { LedgerLock(18, []) }

    /// The row of a notification.
    static func notification(_ id: String) -> LedgerLock { LedgerLock(11, id.utf8) }

    /// A ground of another shop, by the shop's reference.
    static func ground(_ app: String, _ source: String, _ reference: String) -> LedgerLock {
        LedgerLock(14, app.utf8, source.utf8, reference.utf8)
    }

    /// The id of a seat, claimed or unclaimed, in capitals or small letters.
    static func seat(_ id: String) -> LedgerLock { LedgerLock(12, id.lowercased().utf8) }

    /// A request for an extension.
    static func extensionRequest(_ app: String, _ id: String) -> LedgerLock { LedgerLock(16, app.utf8, id.utf8) }

    /// An external purchase token, or a line item of one.
    static func external(_ id: String) -> LedgerLock { LedgerLock(19, id.utf8) }

    /// FNV-1a with 64 bits: it is the same in every process, and a collision only costs time.
    private init(_ kind: UInt8, _ parts: any Collection<UInt8>...) {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        add(kind)
        for part in parts {
            for byte in part { add(byte) }
            // No byte of UTF-8 is 0xFF, so this marks the end of a part.
            add(0xFF)
        }
        number = Int64(bitPattern: hash)
    }
}

/// The rows that a write needs, as far as they are known before it begins.
public struct LedgerWritePlan: Sendable {
    /// The parts of the ledger that it reads and changes.
    public var locks: LedgerLocks
    /// The rows that it will probably read. They affect only the speed: an engine on another machine reads them for all
    /// writes of a transaction in one round trip, and needs another one for any other row.
    public var reads: [ExpectedRead]
    /// The number of rows that it will probably insert into tables that number their rows, by `table.column`.
    public var insertions: [String: Int]
    /// What it needs besides, found in the rows that were loaded. It is asked again with the further rows until it
    /// names no more, then its parts are locked, all before the write is decided.
    var needs: @Sendable (LoadedRows) throws(LedgerStorageError) -> LedgerNeeds = { _ in LedgerNeeds() }

    /// A plan.
    public init(locks: LedgerLocks, reads: [ExpectedRead] = [], insertions: [String: Int] = [:]) {
        self.locks = locks
        self.reads = reads
        self.insertions = insertions
    }

    /// The rows of an expected read; `nil` if it was not loaded.
    typealias LoadedRows = (ExpectedRead) -> [LedgerRow]?
}

/// A query that a write will probably run, with its values.
public struct ExpectedRead: Sendable {
    let shape: ReadShape
    /// The values of the shape's parameters, in order. A column of another query is replaced by that query's values.
    let values: [LedgerValue]

    init(_ shape: ReadShape, _ values: [LedgerValue]) {
        self.shape = shape
        self.values = values
    }
}
