import PurchaseVerification
import Synchronization

import struct Foundation.UUID

/// The refusals of a process that are counted and not recorded yet, in memory. Its size is bounded by the number of API
/// keys.
final class RefusalCounts: Sendable {
    /// A part of the counts, under the entry that will record it.
    struct Batch: Sendable {
        let id: UUID
        let refusals: CountedRefusals
    }

    private struct Sender: Hashable {
        let app: String
        let keyID: String?
    }

    private struct State {
        var counted: [Sender: CountedRefusals] = [:]
        /// Batches whose write failed, or may have failed. They keep their ids, so that none is recorded twice.
        var postponed: [Batch] = []
    }

    private let state = Mutex(State())

    func add(_ refusals: [CountedRefusals]) {
        guard !refusals.isEmpty else { return }
        state.withLock { state in
            for later in refusals {
                let sender = Sender(app: later.app, keyID: later.keyID)
                if state.counted[sender]?.add(later) == nil { state.counted[sender] = later }
            }
        }
    }

    /// Takes everything that is not recorded, one batch for each key, in one order.
    func take(at now: Timestamp) -> [Batch] {
        state.withLock { state in
            defer { state = State() }
            let counted = state.counted.values.sorted { ($0.app, $0.keyID ?? "") < ($1.app, $1.keyID ?? "") }
            return state.postponed + counted.map { Batch(id: TimeOrderedID.next(at: now), refusals: $0) }
        }
    }

    /// Keeps batches for the next time.
    func postpone(_ batches: [Batch]) { state.withLock { $0.postponed = batches + $0.postponed } }
}
