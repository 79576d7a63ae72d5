import Synchronization

/// The keys of shared parts that are stored, so that a purchase needs no look for the part that it has in common with others.
final class EvidencePartKeys: Sendable {
    /// Parts that are remembered. Apple has a handful of signers at a time.
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

/// The shared parts that one write stores or finds. They are remembered only after its commit: a write that is rolled back takes
/// its parts along.
final class EvidencePartWrites: Sendable {
    private let known: EvidencePartKeys
    private let written = Mutex<[[UInt8]: Int64]>([:])

    init(_ known: EvidencePartKeys) { self.known = known }

    /// The key of a part that is stored, or that this write has stored.
    func key(_ sha256: [UInt8]) -> Int64? { written.withLock { $0[sha256] } ?? known.key(sha256) }

    /// Whether the part was stored or found by this write, so that it is there.
    func isCertain(_ sha256: [UInt8]) -> Bool { written.withLock { $0[sha256] != nil } }

    func note(_ sha256: [UInt8], _ key: Int64) { written.withLock { $0[sha256] = key } }

    /// Remembers the parts of a write that was committed.
    func commit() { known.insert(written.withLock { $0 }) }
}
