import AppStoreConnection
package import Foundation
import Synchronization

/// The traces of the requests that wrote the latest journal entries, for the webhooks that tell of them.
///
/// It is the memory of one server: the events of entries that another server wrote, or this one before a restart, are
/// delivered without a trace. A column of the journal would keep what a sender chose for good.
package final class RecentTraces: Sendable {
    /// The most entries that are remembered; a delivery usually follows within a second.
    private static let limit = 4096

    private let state = Mutex(State())

    private struct State {
        var traces: [UUID: String] = [:]
        /// The entries in the order in which they were noted; a ring.
        var order: [UUID] = []
        var next = 0
    }

    package init() {}

    /// Remembers the trace of the current request, if it has one, for an entry that it wrote.
    package func note(_ entry: UUID?) {
        guard let entry, let trace = OutgoingTrace.parent else { return }
        state.withLock { state in
            guard state.traces.updateValue(trace, forKey: entry) == nil else { return }
            guard state.order.count == Self.limit else { return state.order.append(entry) }
            state.traces[state.order[state.next]] = nil
            state.order[state.next] = entry
            state.next = (state.next + 1) % Self.limit
        }
    }

    /// The trace of an entry.
    func trace(of entry: UUID) -> String? { state.withLock { $0.traces[entry] } }
}
