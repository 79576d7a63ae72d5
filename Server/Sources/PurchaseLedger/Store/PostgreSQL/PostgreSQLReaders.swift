import Foundation

/// Threads with connections that execute reads.
///
/// Unchecked because every property is read and written under the condition's lock.
final class PostgreSQLReaders: @unchecked Sendable {
    private let condition = NSCondition()
    private var waiting: [any PostgreSQLReadJob] = []
    private var isClosed = false
    private let settings: PostgreSQLSettings
    private let maximumWaiting: Int
    private let isConfirmed: Bool

    /// - Parameter isConfirmed: whether a read is answered after the standby has what it read.
    init(_ settings: PostgreSQLSettings, maximumWaiting: Int, isConfirmed: Bool = false) {
        (self.settings, self.maximumWaiting, self.isConfirmed) = (settings, maximumWaiting, isConfirmed)
    }

    func submit(_ job: any PostgreSQLReadJob) {
        condition.lock()
        var refusal: LedgerStorageError?
        if isClosed {
            refusal = LedgerStorageError(.closed, "a read came after the close")
        } else if waiting.count >= maximumWaiting {
            refusal = LedgerStorageError(.overloaded, "\(maximumWaiting) reads are waiting")
        } else {
            waiting.append(job)
            condition.signal()
        }
        condition.unlock()
        if let refusal { job.fail(refusal) }
    }

    func close() {
        condition.lock()
        isClosed = true
        condition.broadcast()
        condition.unlock()
    }

    /// Executes reads until the database is closed.
    func run() {
        var session: PostgreSQLSession?
        while let job = take() { perform(job, &session) }
    }

    private func take() -> (any PostgreSQLReadJob)? {
        condition.lock()
        defer { condition.unlock() }
        while waiting.isEmpty, !isClosed { condition.wait() }
        return waiting.isEmpty ? nil : waiting.removeFirst()
    }

    /// Executes a read. If the connection was lost, the read is repeated once on a new one.
    private func perform(_ job: any PostgreSQLReadJob, _ held: inout PostgreSQLSession?) {
        for isLast in [false, true] {
            let session: PostgreSQLSession
            do throws(LedgerStorageError) {
                if let held { session = held } else { session = try PostgreSQLSession(settings) }
            } catch {
                return job.fail(error)
            }
            held = session
            let connection = PostgreSQLReadConnection(
                session, isStatement: job.isStatement, isConfirmed: isConfirmed)
            do {
                let outcome = Result { try job.perform(connection) }
                // What a primary says that was replaced meanwhile is no error of the ledger either.
                if isConfirmed { try connection.confirm() }
                try outcome.get()
                job.succeed()
                connection.end()
                if session.isLost { held = nil }
                return
            } catch {
                connection.end()
                let isLost = session.isLost
                if isLost { held = nil }
                if isLost, !isLast { continue }
                return job.fail(error)
            }
        }
    }
}
