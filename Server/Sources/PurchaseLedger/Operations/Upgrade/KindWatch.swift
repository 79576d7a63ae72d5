import PurchaseVerification
import Synchronization

/// Looks for journal entries of kinds that this release does not know, which a newer release has written against the
/// order of an upgrade.
///
/// Each look reads the kinds of the entries since the one before, so it costs as much as there is news.
final class KindWatch: Sendable {
    /// The entries before the newest one that the first look reads.
    private static let first: Int64 = 10_000
    /// The entries that are read again: PostgreSQL commits some later than those with higher numbers.
    private static let again: Int64 = 1_000

    private let last = Mutex<Int64?>(nil)

    /// - Throws: `journalKindUnknown`, with the numbers of the kinds.
    func look(_ database: any LedgerDatabase) async throws {
        let known = last.withLock { $0 }
        let (newest, kinds) = try await database.read(.keys) { connection in
            let newest = try JournalTable(connection: connection).last()
            let after = known.map { $0 - Self.again } ?? newest - Self.first
            return (newest, try JournalTable(connection: connection).kinds(after: after))
        }
        last.withLock { $0 = newest }
        let unknown = kinds.filter { !LedgerRelease.this.knows($0) }.sorted()
        guard unknown.isEmpty else {
            throw LedgerStorageError(
                .journalKindUnknown,
                "there are entries of the kind \(unknown.map(String.init).joined(separator: ", ")), this version knows "
                    + "\(JournalKind.allCases.count { LedgerRelease.this.knows(Int64($0.rawValue)) }) others")
        }
    }
}

extension PurchaseLedger {
    /// Checks that the database accepts writes, and that no newer release has written what this one cannot read. If it
    /// has, this process stops writing.
    ///
    /// - Throws: `LedgerStorageError`.
    public func probe() async throws {
        do {
            try await kindWatch.look(database)
        } catch let error as LedgerStorageError where error.kind == .journalKindUnknown {
            database.stopWriting(error)
            throw error
        }
        try await perform(ProbeReadiness())
    }
}
