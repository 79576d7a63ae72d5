import Synchronization

/// A cache of the keys of stored shared parts, so that a purchase need not look up the part that it shares with others.
final class EvidencePartKeys: Sendable {
    /// The number of cached parts. Apple has a handful of signers at a time.
    private static let limit = 256

    private let keys = Mutex<[[UInt8]: Int64]>([:])

    /// The key of a part.
    func key(_ sha256: [UInt8]) -> Int64? { keys.withLock { $0[sha256] } }

    fileprivate func insert(_ stored: [[UInt8]: Int64]) {
        keys.withLock { keys in
            guard keys.count + stored.count <= Self.limit else {
                keys = stored
                return
            }
            keys.merge(stored) { _, key in key }
        }
    }
}

/// The shared parts that one write stores or finds. They are cached only after its commit, because a rollback removes
/// its parts.
final class EvidencePartWrites: Sendable {
    private let known: EvidencePartKeys
    private let written = Mutex<[[UInt8]: Int64]>([:])

    init(_ known: EvidencePartKeys) { self.known = known }

    /// The key of a part that is stored, or that this write has stored.
    func key(_ sha256: [UInt8]) -> Int64? { written.withLock { $0[sha256] } ?? known.key(sha256) }

    /// Whether this write stored or found the part, so that it certainly exists.
    func isCertain(_ sha256: [UInt8]) -> Bool { written.withLock { $0[sha256] != nil } }

    func note(_ sha256: [UInt8], _ key: Int64) { written.withLock { $0[sha256] = key } }

    /// Caches the parts of a committed write.
    func commit() { known.insert(written.withLock { $0 }) }
}
