import PurchaseVerification
import TextFormats

public import struct Foundation.UUID

/// The proof that an entry is in the log of a signed checkpoint, with its details and evidence.
public struct ProveEntry: LedgerQuery {
    public static var access: LedgerReadAccess { .keys }

    /// The id of the entry, such as that of a submission.
    public let entryID: UUID
    /// A published checkpoint that covers the entry.
    public let checkpoint: SignedCheckpoint

    /// A proof for a checkpoint.
    public init(entryID: UUID, checkpoint: SignedCheckpoint) {
        self.entryID = entryID
        self.checkpoint = checkpoint
    }

    /// - Throws: `entryUnknown`; `notSealed` if the checkpoint does not cover the entry yet; `shorter` or `rewritten`
    ///   if the log differs from that of the checkpoint; `LedgerStorageError`.
    public func answer(_ reader: LedgerTransaction) throws -> EntryProof {
        let connection = reader.connection
        let (size, root) = (checkpoint.checkpoint.size, checkpoint.checkpoint.root)
        guard let row = try JournalTable(connection: connection).row(id: entryID) else {
            throw LogError(.entryUnknown, "the journal has no entry \(entryID.text)")
        }
        let stored = try LogStateTable(connection: connection).row().size
        guard stored >= size else {
            throw LogError(.shorter, "the log has \(stored) leaves, and the checkpoint \(size)")
        }
        guard let leaf = try LogEntriesTable(connection: connection).leaf(of: row.key), leaf < size else {
            throw LogError(
                .notSealed,
                "the checkpoint of \(counted(size, "leaf", "leaves")) does not cover entry \(entryID.text) yet; take a newer one"
            )
        }
        let tree = MerkleTree(size: size, source: LogHashes(connection, size: stored))
        guard let path = try tree.inclusionProof(of: leaf),
            MerkleProof.isIncluded(.leaf(row.leaf), at: leaf, size: size, root: root, path: path)
        else { throw LogError(.rewritten, "at size \(size) the log has another root than the checkpoint") }
        let evidence = try row.evidenceKey
            .flatMap { key throws(LedgerStorageError) in try EvidenceTable(connection: connection).row(key: key) }
            .flatMap { row throws(LedgerStorageError) in try EvidenceStore(connection: connection).bytes(row) }
        var details: EntryProof.Details?
        if let salt = row.salt, let content = row.details { details = EntryProof.Details(salt: salt, content: content) }
        return EntryProof(
            leaf: row.leaf, leafNumber: leaf, path: path, checkpoint: checkpoint.note, details: details,
            evidence: evidence)
    }
}

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
