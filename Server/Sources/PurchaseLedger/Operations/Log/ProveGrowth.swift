import PurchaseVerification

/// The proof that the log of a signed checkpoint extends that of an earlier one. It reads a few tiles of the log.
public struct ProveGrowth: LedgerQuery {
    public static var access: LedgerReadAccess { .keys }

    /// The earlier checkpoint.
    public let from: SignedCheckpoint
    /// The later one.
    public let to: SignedCheckpoint

    /// A proof between two checkpoints.
    public init(from: SignedCheckpoint, to: SignedCheckpoint) { (self.from, self.to) = (from, to) }

    /// - Throws: `shorter` or `rewritten` if the log differs from that of a checkpoint; `malformed` if the first
    ///   checkpoint is the later one; `LedgerStorageError`.
    public func answer(_ reader: LedgerTransaction) throws -> GrowthProof {
        let (earlier, later) = (from.checkpoint, to.checkpoint)
        guard earlier.size <= later.size else {
            throw LogError(
                .malformed,
                "the first checkpoint has \(earlier.size) leaves, and the second \(later.size); exchange them")
        }
        let stored = try LogStateTable(connection: reader.connection).row().size
        guard stored >= later.size else {
            throw LogError(.shorter, "the log has \(stored) leaves, and the checkpoint \(later.size)")
        }
        let source = LogHashes(reader.connection, size: stored)
        for checkpoint in [earlier, later] {
            let root = try MerkleTree(size: checkpoint.size, source: source).root()
            guard root == checkpoint.root else {
                throw LogError(
                    .rewritten,
                    """
                    at size \(checkpoint.size) the log has the root \(root.bytes.hexadecimal), and the checkpoint of \
                    \(checkpoint.origin) has \(checkpoint.root.bytes.hexadecimal)
                    """)
            }
        }
        guard let path = try MerkleTree(size: later.size, source: source).consistencyProof(from: earlier.size),
            MerkleProof.extends(from: (earlier.size, earlier.root), to: (later.size, later.root), path: path)
        else { throw LogError(.rewritten, "the stored tiles of the log do not agree with its roots") }
        return GrowthProof(from: from.note, to: to.note, path: path)
    }
}
