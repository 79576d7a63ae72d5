import PurchaseVerification
import Synchronization

import struct Foundation.UUID

/// A write that is retried after a conflict. If the connection breaks during the commit, it finds out whether the write
/// is stored.
///
/// The next attempt takes the same locks, which the broken transaction holds until it has ended. If the broken
/// transaction was committed, its journal entry is found, and its result is the answer.
struct RepeatedWrite<Outcome: Sendable>: Sendable {
    /// More attempts would only keep the caller waiting: after a conflict, another server was faster each time.
    private static var attempts: Int { 6 }

    let database: any LedgerDatabase
    let plan: @Sendable () -> LedgerWritePlan

    /// An attempt whose commit may be stored.
    private struct Unresolved: Sendable {
        let entry: UUID
        let outcome: Outcome
    }

    /// Performs the write.
    ///
    /// - Throws: `conflict` if every attempt met one; `outcomeUnknown` if it cannot be determined whether the write is
    ///   stored.
    func perform(_ body: @escaping @Sendable (any LedgerConnection, WriteAttempt) throws -> Outcome) async throws
        -> Outcome
    {
        var unresolved: [Unresolved] = []
        var unknown: LedgerStorageError?
        for attempt in 1... {
            let last = Mutex<Unresolved?>(nil)
            do {
                return try await database.write(plan: plan) { [unresolved] connection in
                    for earlier in unresolved
                    where try JournalTable(connection: connection).row(id: earlier.entry) != nil {
                        return earlier.outcome
                    }
                    // The body can run more than once. The last run is the one that is committed.
                    let noted = WriteAttempt()
                    let outcome = try body(connection, noted)
                    let entry = noted.firstEntry
                    last.withLock { $0 = entry.map { Unresolved(entry: $0, outcome: outcome) } }
                    return outcome
                }
            } catch let error as LedgerStorageError where error.kind == .outcomeUnknown {
                unknown = error
                if let written = last.withLock({ $0 }) { unresolved.append(written) }
                guard attempt < Self.attempts else { throw error }
            } catch let error as LedgerStorageError where error.kind == .conflict || unknown != nil {
                // While an earlier attempt may be stored, no error may say that nothing was written.
                guard attempt < Self.attempts else { throw unknown ?? error }
            }
            do {
                try await Self.pause(before: attempt)
            } catch {
                if let unknown { throw unknown }
                throw error
            }
        }
        throw unknown ?? LedgerStorageError(.conflict, "every attempt conflicted with another write")
    }

    /// Waits longer before each attempt, for a random time, so that conflicting writes do not meet again.
    private static func pause(before attempt: Int) async throws {
        try await Task.sleep(for: .milliseconds(Int.random(in: 1...(10 << attempt))))
    }
}
