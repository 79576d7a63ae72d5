import Synchronization

import struct Foundation.UUID

/// One attempt of a write, with the first journal entry that it wrote. If the connection breaks during the commit, the
/// entry shows later whether the write is stored.
final class WriteAttempt: Sendable {
    private let entry = Mutex<UUID?>(nil)

    /// The first entry; `nil` if none was written.
    var firstEntry: UUID? { entry.withLock { $0 } }

    /// Notes an entry.
    func note(_ id: UUID) {
        entry.withLock { $0 = $0 ?? id }
    }
}
