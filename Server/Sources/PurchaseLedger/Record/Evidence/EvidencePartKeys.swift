import Synchronization

/// A cache of the keys of stored shared parts, so that a purchase need not look up the part that it shares with others.
final class EvidencePartKeys: Sendable {
    /// The number of cached parts. Apple has a handful of signers at a time.
    private static let limit = 256

    private let keys = Mutex<[[UInt8]: Int64]>([:])

    /// The key of a part.
    func key(_ sha256: [UInt8]) -> Int64? { keys.withLock { $0[sha256] } }

    func insert(_ stored: [[UInt8]: Int64]) {
        keys.withLock { keys in
            guard keys.count + stored.count <= Self.limit else {
                keys = stored
                return
            }
            keys.merge(stored) { _, key in key }
        }
    }
}
