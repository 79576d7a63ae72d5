import Logging
import NIOCore
import ServiceLifecycle

/// Tells the service manager that the server works, and at last that it stops.
///
/// A sign of life is sent only if every event loop answered. If one hangs, or if no thread is left for tasks, the
/// manager misses the sign and starts the server again. A database that is away is no reason for that: `/readyz`
/// reports it.
struct ServiceNotices: Service {
    let manager: ServiceManager
    let loops: any EventLoopGroup
    let logger: Logger

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            do {
                guard let interval = manager.watchdogInterval else { return try await gracefulShutdown() }
                while true {
                    for loop in loops.makeIterator() { try await loop.submit {}.get() }
                    tell(.alive)
                    try await Task.sleep(for: interval)
                }
            } catch is CancellationError {
                return
            }
        }
        tell(.stopping)
    }

    /// Tells the manager; a failure is logged, because the server can do without its manager.
    func tell(_ state: ServiceManager.State) {
        do {
            try manager.tell(state)
        } catch {
            logger.warning("the service manager did not get a message", metadata: ["error": "\(error)"])
        }
    }
}
