import Foundation
import Synchronization
import UnixSignals

/// Whether a signal asked the program to end after the current batches. A second signal ends the program.
final class Interruption: Sendable {
    private let state = Mutex(false)

    /// The exit status after a signal: 128 and the number of SIGINT, as shells have it.
    static let status: Int32 = 130

    var isRequested: Bool { state.withLock { $0 } }

    /// Watches for SIGINT and SIGTERM from here on, until the program ends.
    func watch() async {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        Task {
            for await _ in signals {
                guard !isRequested else { Foundation.exit(Self.status) }
                state.withLock { $0 = true }
            }
        }
    }
}
