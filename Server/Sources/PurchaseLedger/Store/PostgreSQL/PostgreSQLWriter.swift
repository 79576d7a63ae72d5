/// A thread with a connection that performs writes. Several writes share a transaction.
///
/// Unchecked because only its own thread touches the session.
final class PostgreSQLWriter: @unchecked Sendable {
    /// How often writes are tried on a new connection after theirs was lost before the commit.
    private static let connectionAttempts = 3

    private let number: Int
    private let queue: PostgreSQLWriteQueue
    private let settings: PostgreSQLSettings
    private let counters: PostgreSQLCounters
    private var session: PostgreSQLSession?

    init(_ number: Int, _ queue: PostgreSQLWriteQueue, _ settings: PostgreSQLSettings, _ counters: PostgreSQLCounters) {
        self.number = number
        self.queue = queue
        self.settings = settings
        self.counters = counters
    }

    /// Performs writes until the queue is closed.
    func run() {
        while let jobs = queue.take(writer: number) { perform(jobs) }
        session = nil
    }

    /// What became of the writes of a transaction.
    private struct Batch {
        var done: [any PostgreSQLWriteJob] = []
        var failed: [(any PostgreSQLWriteJob, any Error)] = []
        /// Writes that need more parts of the ledger.
        var again: [any PostgreSQLWriteJob] = []
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

    private func perform(_ jobs: [any PostgreSQLWriteJob], isRepeated: Bool = false) {
        var losses = 0
        while true {
            switch transaction(jobs) {
            case .committed(let batch):
                counters.add(transactions: 1, writes: batch.done.count)
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
                    // Each gets a transaction of its own, so that the error of one does not touch the others.
                    for job in jobs { perform([job]) }
                } else if error.isDuplicate, !isRepeated {
                    // Another server inserted the row meanwhile. Now it is found.
                    perform(jobs, isRepeated: true)
                } else {
                    for job in jobs { job.fail(error) }
                }
                return
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

    /// Performs writes in one transaction.
    private func transaction(_ jobs: [any PostgreSQLWriteJob]) -> Ending {
        let session: PostgreSQLSession
        do throws(LedgerStorageError) {
            session = try connected()
        } catch {
            return .notBegun(error)
        }
        let trips = session.roundTrips
        defer {
            counters.add(roundTrips: session.roundTrips - trips)
            if session.isLost { self.session = nil }
        }
        let connection = PostgreSQLConnection(session, .writes, hasSavepoints: jobs.count > 1)
        do throws(LedgerStorageError) {
            try connection.begin(
                PostgreSQLWriteQueue.union(jobs), schema: counters.schema, limits: settings.limits)
        } catch {
            connection.rollBack()
            return session.isLost ? .lost(error) : .notBegun(error)
        }
        var batch = Batch()
        do throws(LedgerStorageError) {
            for job in jobs { try perform(job, connection, session, &batch) }
        } catch {
            connection.rollBack()
            return session.isLost ? .lost(error) : .refused(error)
        }
        guard !batch.done.isEmpty else {
            connection.rollBack()
            return .committed(batch)
        }
        do throws(LedgerStorageError) {
            try connection.commit()
        } catch {
            if error.kind == .outcomeUnknown { return .unknown(batch, error) }
            connection.rollBack()
            return .refused(error)
        }
        return .committed(batch)
    }

    /// Performs one write of a transaction.
    ///
    /// - Throws: an error after which the transaction cannot go on.
    private func perform(
        _ job: any PostgreSQLWriteJob, _ connection: PostgreSQLConnection, _ session: PostgreSQLSession,
        _ batch: inout Batch
    ) throws(LedgerStorageError) {
        connection.beginJob()
        let failure: any Error
        do {
            try job.perform(connection)
            connection.endJob()
            batch.done.append(job)
            return
        } catch {
            failure = error
        }
        // The server's own error, whatever the write made of it.
        if let error = connection.failure { throw error }
        let needed = connection.needed
        if !needed.isEmpty, job.add(needed) {
            batch.again.append(job)
        } else {
            batch.failed.append((job, failure))
        }
        try connection.undoJob()
    }

    private func connected() throws(LedgerStorageError) -> PostgreSQLSession {
        if let session, !session.isLost { return session }
        let new = try PostgreSQLSession(settings)
        session = new
        return new
    }
}
