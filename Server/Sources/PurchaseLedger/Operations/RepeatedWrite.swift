import PurchaseVerification
import Synchronization

import struct Foundation.UUID

/// A write that is tried again after a conflict, and whose outcome is found out if the connection breaks during the commit.
///
/// The next try takes the same locks, which the broken transaction holds until it has ended. So it sees whether the broken one was
/// committed: then its journal entry is there, and what it returned is the answer.
struct RepeatedWrite<Outcome: Sendable>: Sendable {
    /// More tries only keep the caller waiting: a conflict means that another server was faster each time.
    private static var attempts: Int { 6 }

    let database: any LedgerDatabase
    let plan: @Sendable () -> LedgerWritePlan

    /// A try whose commit may be stored.
    private struct Unresolved: Sendable {
        let entry: UUID
        let outcome: Outcome
    }

    /// Performs the write.
    ///
    /// - Throws: `conflict` if every try met one; `outcomeUnknown` if nobody could tell whether it is stored.
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
                    // The body can run more than once. The latest run is the one that is committed.
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
                // Nobody is told that nothing was written while an earlier try may be stored.
                guard attempt < Self.attempts else { throw unknown ?? error }
            }
            do {
                try await Self.pause(before: attempt)
            } catch {
                if let unknown { throw unknown }
                throw error
            }
        }
        throw unknown ?? LedgerStorageError(.conflict, "every try met another write")
    }

    /// Waits longer before each try, at random, so that those who met do not meet again.
    private static func pause(before attempt: Int) async throws {
        try await Task.sleep(for: .milliseconds(Int.random(in: 1...(10 << attempt))))
    }
}
