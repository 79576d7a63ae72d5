import NIOPosix
import Synchronization

/// A thread for work that takes long, with a few places to wait; more work is refused, so that strangers can fill
/// neither the memory nor the processors.
final class BoundedThread: Sendable {
    /// The pieces of work that may be under way or wait.
    private static let places = 8

    private let thread: NIOThreadPool
    private let count = Atomic(0)

    init() {
        thread = NIOThreadPool(numberOfThreads: 1)
        thread.start()
    }

    deinit { thread.shutdownGracefully { _ in } }

    /// Too much work waits.
    struct Busy: Error {}

    /// Runs work on the thread.
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        let before = count.add(1, ordering: .relaxed).oldValue
        defer { count.subtract(1, ordering: .relaxed) }
        guard before < Self.places else { throw Busy() }
        return try await thread.runIfActive(work)
    }
}
