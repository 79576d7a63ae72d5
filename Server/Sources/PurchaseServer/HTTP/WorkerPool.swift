import NIOCore
import NIOPosix
import Synchronization

/// Threads for work that takes processor time: decoding and verifying received data. The threads of connections only
/// wait for them, so `/healthz` and the signal to stop are answered during any verification.
///
/// The threads belong to the process, one per core, and take work in order of arrival. The number of waiting pieces is
/// limited per server. Work on few bytes is no exception: 6 kB of hostile certificates can take as long as a megabyte
/// of receipt.
package final class WorkerPool: Sendable {
    private static let threads: NIOThreadPool = {
        let threads = NIOThreadPool(numberOfThreads: System.coreCount)
        threads.start()
        return threads
    }()

    private let limit: Int
    private let submitted = Atomic(0)

    /// - Parameter limit: how many pieces of work may run or wait at the same time.
    package init(limit: Int) {
        self.limit = limit
    }

    /// The pieces of work that run or wait.
    var waitingCount: Int { submitted.load(ordering: .relaxed) }

    /// Runs the body on one of the threads.
    ///
    /// - Throws: `WorkersBusy` if the queue is full, and the errors of the body.
    package func run<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let waiting = submitted.add(1, ordering: .relaxed).newValue
        defer { submitted.subtract(1, ordering: .relaxed) }
        guard waiting <= limit else { throw WorkersBusy() }
        return try await Self.threads.runIfActive(body)
    }
}

/// More work waits than the limit allows.
package struct WorkersBusy: Error {}
