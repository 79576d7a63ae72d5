import PurchaseVerification
import Synchronization

import struct Foundation.UUID

/// Refusals beyond the daily budget of one API key, which are counted and not recorded one by one.
struct CountedRefusals: Sendable, Equatable {
    var app: String
    var keyID: String?
    /// The number of refusals with each code.
    var codes: [String: Int64]
    /// The hash of the last evidence; `nil` if no refusal had evidence.
    var lastSHA256: [UInt8]?
    /// When the first of them was refused.
    var since: Timestamp

    var count: Int64 { codes.values.reduce(0, +) }

    /// The most frequent code; of several, the first in the alphabet.
    var code: String { codes.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? "" }

    fileprivate mutating func add(_ later: CountedRefusals) {
        codes.merge(later.codes, uniquingKeysWith: +)
        lastSHA256 = later.lastSHA256 ?? lastSHA256
        since = min(since, later.since)
    }
}

/// The refusals that one write counted. They count once it is committed.
final class RefusalNotes {
    private(set) var counted: [CountedRefusals] = []

    func note(_ refusals: CountedRefusals) { counted.append(refusals) }
}

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
