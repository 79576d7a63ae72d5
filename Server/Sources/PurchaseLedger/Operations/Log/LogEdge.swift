import PurchaseVerification

/// The size and root that the log states, and its edge at an earlier size.
struct LogEdge: LedgerQuery {
    static var access: LedgerReadAccess { .keys }

    /// The earlier size; `nil` if no edge is requested.
    let size: Int64?

    struct Answer: Sendable {
        let size: Int64
        let root: MerkleHash
        let edge: MerkleAppender?
    }

    func answer(_ reader: LedgerTransaction) throws -> Answer {
        let state = try LogStateTable(connection: reader.connection).row()
        guard let root = MerkleHash(state.root) else {
            throw LedgerStorageError(.corrupt, "the root of log_state does not have 32 bytes")
        }
        var edge: MerkleAppender?
        if let size {
            guard size <= state.size else {
                throw LogError(
                    .shorter,
                    """
                    the log has \(state.size) leaves, and \(size) were signed; after a restore from a backup, see the \
                    documentation of the record
                    """)
            }
            edge = try MerkleAppender(size: size, source: LogHashes(reader.connection, size: state.size))
        }
        return Answer(size: state.size, root: root, edge: edge)
    }
}
