import PurchaseVerification

/// Assigns pending journal entries their positions in the Merkle log: numbers them in the order of the journal, and
/// stores the tiles that they fill, and the size and root of the tree.
///
/// It goes no further than the number up to which no entry can be committed later (`LedgerConnection.settledEntry`),
/// so leaves are in the order of numbers and no entry is skipped. An entry that no server with the key wrote gets no
/// leaf, now or later.
struct SealEntries: LedgerOperation {
    /// The maximum number of entries of one transaction; purchases wait for it.
    static let limit: Int64 = 512

    let key: EntryKey

    struct Outcome: Sendable {
        /// The number of entries that were sealed.
        var sealed = 0
        /// The entries that were not written by a server with the key, or that the log has already.
        var refused: [Int64] = []

        /// Whether no entry was left to examine.
        var isEmpty: Bool { sealed == 0 && refused.isEmpty }
    }

    var locks: LedgerLocks { .parts([.log]) }

    func perform(_ transaction: LedgerTransaction) throws -> Outcome {
        let connection = transaction.connection
        let table = LogStateTable(connection: connection)
        // With another key, every entry would be refused for good.
        if let id = try table.entryKeyID(), !id.isSame(as: key.id) {
            throw LogError(
                .entryKeyDiffers,
                "the entries are of key \(id), and this server has \(key.id); name the file of that key")
        }
        var state = try table.locked()
        let waiting = try PendingEntry.all(
            after: state.sealedUpTo, upTo: try connection.settledEntry() ?? .max, limit: Self.limit, connection)
        var outcome = Outcome()
        guard let last = waiting.last else { return outcome }
        var appender = try MerkleAppender(size: state.size, source: LogHashes(connection, size: state.size))
        guard appender.root().bytes == state.root else {
            throw LogError(
                .rewritten, "at size \(state.size) the entries have another root than the log; run assay audit verify")
        }
        var tally = HourlyTally()
        let (entries, tiles) = (LogEntriesTable(connection: connection), LogTilesTable(connection: connection))
        for entry in waiting {
            guard let leaf = entry.authenticLeaf(key) else {
                outcome.refused.append(entry.entryKey)
                continue
            }
            try entries.insert(leaf: appender.size, entry: entry.entryKey)
            for tile in appender.append(.leaf(leaf)) {
                try tiles.insert(
                    level: tile.level, number: tile.number, root: tile.root.bytes, hashes: tile.hashes.concatenated)
            }
            tally.add(leaf: leaf, details: entry.details)
            outcome.sealed += 1
        }
        try tally.write(connection)
        (state.size, state.root, state.sealedUpTo) = (appender.size, appender.root().bytes, last.entryKey)
        state.refused += Int64(outcome.refused.count)
        try table.update(state)
        return outcome
    }
}

extension PendingEntry {
    /// The leaf, if a server with the key wrote it, its details are unchanged, and the log does not contain it.
    func authenticLeaf(_ key: EntryKey) -> [UInt8]? {
        guard let leaf, sealed == nil, key.authenticates(leaf, id: entryID, code: mac),
            (salt == nil) == (details == nil)
        else { return nil }
        // The leaf ends with the hash of its salted details.
        if let salt, let details, !leaf.suffix(32).elementsEqual(Journal.digest(salt: salt, details: details)) {
            return nil
        }
        return leaf
    }
}

/// Whether entries wait for the log, read before a transaction is spent on them.
struct HasPendingEntries: LedgerQuery {
    static var access: LedgerReadAccess { .keys }

    func answer(_ reader: LedgerTransaction) throws -> (isPending: Bool, refused: Int64) {
        let connection = reader.connection
        // It comes first: a transaction that reads begins after it.
        let settled = try connection.settledEntry() ?? .max
        let state = try LogStateTable(connection: connection).row()
        let first = try connection.rows(
            "SELECT entry_key FROM journal WHERE entry_key > ?1 AND entry_key <= ?2 LIMIT 1",
            [.integer(state.sealedUpTo), .integer(settled)])
        return (!first.isEmpty, state.refused)
    }
}
