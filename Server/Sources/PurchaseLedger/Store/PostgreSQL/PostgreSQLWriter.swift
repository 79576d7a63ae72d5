/// A thread with a connection that executes writes. Several writes share a transaction.
///
/// Unchecked because only its own thread touches the session.
final class PostgreSQLWriter: @unchecked Sendable {
    /// How often writes are retried on a new connection after the connection was lost before the commit.
    private static let connectionAttempts = 3
    /// How often further rows are loaded before a write is decided: the rest of long evidence, and then the customers
    /// into whom others were merged. A decision reads whatever is still missing.
    private static let furtherLoads = 2

    /// How often a write is repeated because another server inserted a row of it meanwhile. Each attempt finds the row
    /// of the one before, and a write adds few rows that others share: parts of evidence, a product, an environment.
    private static let repetitions = 8

    private let number: Int
    private let queue: PostgreSQLWriteQueue
    private let settings: PostgreSQLSettings
    private let counters: PostgreSQLCounters
    private var session: PostgreSQLSession?

    init(
        _ number: Int, _ queue: PostgreSQLWriteQueue, _ settings: PostgreSQLSettings, _ counters: PostgreSQLCounters
    ) {
        self.number = number
        self.queue = queue
        self.settings = settings
        self.counters = counters
    }

    /// Executes writes until the queue is closed.
    func run() {
        while let jobs = queue.take(writer: number) { perform(jobs) }
        session = nil
    }

    /// The outcome of the writes of a transaction.
    private struct Batch {
        var done: [any PostgreSQLWriteJob] = []
        var failed: [(any PostgreSQLWriteJob, any Error)] = []
        /// Writes that need to lock more parts of the ledger.
        var again: [any PostgreSQLWriteJob] = []
        /// How long the commit took.
        var commitSeconds = 0.0
    }

    private enum Ending {
        case committed(Batch)
        case unknown(Batch, LedgerStorageError)
        /// The server refused the transaction as a whole, before any write.
        case notBegun(LedgerStorageError)
        /// The server refused a statement.
        case refused(LedgerStorageError)
        /// The connection was lost before the commit.
        case lost(LedgerStorageError)
    }

    private func perform(_ jobs: [any PostgreSQLWriteJob]) {
        var (losses, repetitions) = (0, 0)
        while true {
            switch transaction(jobs) {
            case .committed(let batch):
                counters.addCommit(writes: batch.done.count, commitSeconds: batch.commitSeconds)
                for job in batch.done { job.succeed() }
                return finish(batch)
            case .unknown(let batch, let error):
                for job in batch.done { job.fail(error) }
                return finish(batch)
            case .notBegun(let error):
                for job in jobs { job.fail(error) }
                return
            case .refused(let error):
                if jobs.count > 1 {
                    // Each write gets its own transaction, so that an error of one does not affect the others.
                    for job in jobs { perform([job]) }
                    return
                }
                repetitions += 1
                guard error.isDuplicate, repetitions <= Self.repetitions else {
                    for job in jobs { job.fail(error) }
                    return
                }
            case .lost(let error):
                losses += 1
                guard losses < Self.connectionAttempts else {
                    for job in jobs { job.fail(error) }
                    return
                }
            }
        }
    }

    private func finish(_ batch: Batch) {
        for (job, error) in batch.failed { job.fail(error) }
        if !batch.again.isEmpty { queue.putBack(batch.again) }
    }

    /// Executes writes in one transaction.
    private func transaction(_ jobs: [any PostgreSQLWriteJob]) -> Ending {
        let session: PostgreSQLSession
        do throws(LedgerStorageError) {
            session = try connected()
        } catch {
            return .notBegun(error)
        }
        let before = (trips: session.roundTrips, statements: session.statements)
        defer {
            counters.add(
                roundTrips: session.roundTrips - before.trips, statements: session.statements - before.statements)
            if session.isLost { self.session = nil }
        }
        let transaction = PostgreSQLTransaction(session, isShared: jobs.count > 1)
        let waves = Self.waves(of: jobs.filter(\.isPlanned))
        var insertions: [String: Int] = [:]
        for job in jobs { insertions.merge(job.plan.insertions, uniquingKeysWith: +) }
        do throws(LedgerStorageError) {
            try transaction.begin(
                PostgreSQLWriteQueue.union(jobs), schema: counters.schema, limits: settings.limits,
                reads: waves.flatMap { $0.flatMap(\.plan.reads) }, insertions: insertions)
        } catch {
            transaction.rollBack()
            return session.isLost ? .lost(error) : .notBegun(error)
        }
        var batch = Batch()
        do throws(LedgerStorageError) {
            for (number, wave) in waves.enumerated() {
                if number > 0 {
                    try transaction.advance(
                        wave.flatMap(\.plan.reads),
                        later: waves.dropFirst(number + 1).flatMap { $0.flatMap(\.plan.reads) })
                }
                for job in try ready(wave, transaction, &batch) { try perform(job, transaction, &batch) }
            }
            try performAgain(transaction, &batch)
            for job in jobs where !job.isPlanned { try perform(job, transaction, &batch) }
        } catch {
            transaction.rollBack()
            return session.isLost ? .lost(error) : .refused(error)
        }
        guard !batch.done.isEmpty else {
            transaction.rollBack()
            return .committed(batch)
        }
        do throws(LedgerStorageError) {
            let time = CommitTime()
            try transaction.commit()
            batch.commitSeconds = time.seconds
        } catch {
            if error.kind == .outcomeUnknown { return .unknown(batch, error) }
            transaction.rollBack()
            return .refused(error)
        }
        return .committed(batch)
    }

    /// Loads what writes need besides, as the rows that were loaded show.
    ///
    /// - Returns: the writes that can be decided. The others need to lock more parts of the ledger.
    private func ready(
        _ jobs: [any PostgreSQLWriteJob], _ transaction: PostgreSQLTransaction, _ batch: inout Batch
    ) throws(LedgerStorageError) -> [any PostgreSQLWriteJob] {
        var needs = try Self.needs(of: jobs, transaction)
        for _ in 0..<Self.furtherLoads where needs.contains(where: { !$0.reads.isEmpty }) {
            var insertions: [String: Int] = [:]
            for (job, needs) in zip(jobs, needs) {
                job.add(needs)
                insertions.merge(needs.insertions, uniquingKeysWith: +)
            }
            try transaction.loadMore(needs.flatMap(\.reads), insertions)
            needs = try Self.needs(of: jobs, transaction)
        }
        var ready: [any PostgreSQLWriteJob] = []
        for (job, needs) in zip(jobs, needs) {
            if job.add(needs.parts) { batch.again.append(job) } else { ready.append(job) }
        }
        return ready
    }

    private static func needs(
        of jobs: [any PostgreSQLWriteJob], _ transaction: PostgreSQLTransaction
    ) throws(LedgerStorageError) -> [LedgerNeeds] {
        var needs: [LedgerNeeds] = []
        for job in jobs { needs.append(try job.plan.needs(transaction.rows)) }
        return needs
    }

    /// Divides writes into groups whose members have no part of the ledger in common. The writes of a group do not see
    /// each other's changes, as if they ran concurrently; the writes of the next group see them. Most of them are seen
    /// without another read: a claim after others of the same customer needs only their balance.
    private static func waves(of jobs: [any PostgreSQLWriteJob]) -> [[any PostgreSQLWriteJob]] {
        var waves: [[any PostgreSQLWriteJob]] = []
        var next: [LedgerLock: Int] = [:]
        for job in jobs {
            guard case .parts(let parts) = job.plan.locks else { continue }
            let wave = parts.map { next[$0, default: 0] }.max() ?? 0
            for part in parts { next[part] = wave + 1 }
            if wave == waves.count { waves.append([]) }
            waves[wave].append(job)
        }
        return waves
    }

    /// Executes the writes that need parts of the ledger that they did not name, if no other write holds these parts.
    /// The others begin again in another transaction, which waits for the locks.
    private func performAgain(
        _ transaction: PostgreSQLTransaction, _ batch: inout Batch
    ) throws(LedgerStorageError) {
        guard var wave = Self.waves(of: batch.again.filter(\.isPlanned)).first else { return }
        while case .parts(let parts) = PostgreSQLWriteQueue.union(wave + batch.done), parts.count > LedgerLocks.limit,
            wave.popLast() != nil
        {}
        guard !wave.isEmpty else { return }
        var insertions: [String: Int] = [:]
        for job in wave { insertions.merge(job.plan.insertions, uniquingKeysWith: +) }
        let parts = wave.map { job -> Set<LedgerLock> in
            guard case .parts(let parts) = job.plan.locks else { return [] }
            return parts
        }
        let isLocked = try transaction.lock(parts, wave.flatMap(\.plan.reads), insertions)
        let ready = zip(wave, isLocked).filter(\.1).map(\.0)
        batch.again.removeAll { job in ready.contains { $0 === job } }
        for job in ready { try perform(job, transaction, &batch) }
    }

    /// Executes a write.
    ///
    /// - Throws: an error after which the transaction cannot continue.
    private func perform(
        _ job: any PostgreSQLWriteJob, _ transaction: PostgreSQLTransaction, _ batch: inout Batch
    ) throws(LedgerStorageError) {
        let connection = PostgreSQLWriteConnection(transaction, job.plan.locks, isPlanned: job.isPlanned)
        defer { counters.add(decisions: 1, lateTrips: job.isPlanned ? connection.lateTrips : 0) }
        let failure: any Error
        do {
            try job.perform(connection)
            connection.end()
            batch.done.append(job)
            return
        } catch {
            failure = error
        }
        // The server's own error takes precedence over one that the write threw.
        if let error = connection.failure { throw error }
        let needed = connection.needed
        if !needed.isEmpty, job.add(needed) {
            batch.again.append(job)
        } else {
            batch.failed.append((job, failure))
        }
        try connection.undo()
    }

    private func connected() throws(LedgerStorageError) -> PostgreSQLSession {
        if let session, !session.isLost { return session }
        let new = try PostgreSQLSession(settings, isWriter: true)
        session = new
        return new
    }
}
