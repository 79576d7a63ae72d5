import Synchronization

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
