import Synchronization

/// The reads of a database that have begun and not ended, so that its connections are closed after the last of them.
///
/// GRDB's pool lets a read that waits for the end of `close()` go on with a connection that is closed, which ends the
/// process.
final class OpenReads: Sendable {
    private let state = Mutex(State())

    private struct State {
        var count = 0
        var isClosed = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    /// Notes that a read begins.
    ///
    /// - Throws: `closed`.
    func begin() throws(LedgerStorageError) {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.count += 1 }
            return state.isClosed
        }
        guard !isClosed else { throw LedgerStorageError(.closed, "a read came after the close") }
    }

    /// Notes that a read ended.
    func end() {
        let waiting = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Refuses further reads, and waits for those that have begun.
    ///
    /// - Returns: whether this is the first call.
    func close() async -> Bool {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.count > 0 { state.waiting.append(continuation) }
                return state.count == 0
            }
            if isIdle { continuation.resume() }
        }
        return isFirst
    }
}
