import NIOCore
import NIOPosix
import Synchronization

/// Threads for what takes processor time: decoding and verifying what somebody sent. The threads that serve connections only
/// wait for them, so `/healthz` and the signal to stop are answered whatever is being verified.
///
/// The threads belong to the process, one for each core, and take work in the order in which it came. How much may wait is
/// counted for each server.
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

    /// Runs the body on one of the threads.
    ///
    /// - Throws: `WorkersBusy` if as many wait as may, and what the body throws.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let waiting = submitted.add(1, ordering: .relaxed).newValue
        defer { submitted.subtract(1, ordering: .relaxed) }
        guard waiting <= limit else { throw WorkersBusy() }
        return try await Self.threads.runIfActive(body)
    }
}

/// More work waits than the server lets wait.
package struct WorkersBusy: Error {}
