import PurchaseVerification

/// Assigns pending journal entries their positions in the Merkle log: numbers them, and stores the tiles that they
/// fill, and the size and root of the tree. Only this operation assigns numbers, under a lock, so an entry that is
/// committed late is sealed later and no entry is skipped.
struct SealEntries: LedgerOperation {
    /// The maximum number of entries of one transaction; purchases wait for it.
    static let limit: Int64 = 512

    let key: EntryKey
    /// The position at which the previous transaction ended.
    let after: Int64
    /// The number of pending entries up to that position, all of which were refused.
    let refused: Int64

    struct Outcome: Sendable {
        /// The number of entries that were sealed.
        var sealed = 0
        /// The entries that were not written by a server with the key, or that are already in the log. They stay
        /// pending.
        var refused: [Int64] = []
        /// The last entry that was examined; `nil` if none is pending.
        var last: Int64?
        /// Whether an entry before the position was committed since, so that nothing was sealed and the caller begins
        /// again.
        var isOvertaken = false
    }

    var locks: LedgerLocks { .parts([.log]) }

    func perform(_ transaction: LedgerTransaction) throws -> Outcome {
        let connection = transaction.connection
        let table = LogStateTable(connection: connection)
        let state = try table.locked()
        let pending = LogPendingTable(connection: connection)
        let waiting = try pending.entries(after: after, limit: Self.limit)
        var outcome = Outcome(last: waiting.last?.entryKey)
        guard !waiting.isEmpty else { return outcome }
        // PostgreSQL commits entries in another order than it numbers them. An entry of this page may have read what
        // one before the position has written, so that one must get the lower leaf. This statement sees all that the
        // one above has seen.
        guard try pending.count(upTo: after) == refused else {
            outcome.isOvertaken = true
            return outcome
        }
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
            try pending.remove(entry.entryKey)
            for tile in appender.append(.leaf(leaf)) {
                try tiles.insert(
                    level: tile.level, number: tile.number, root: tile.root.bytes, hashes: tile.hashes.concatenated)
            }
            tally.add(leaf: leaf, details: entry.details)
            outcome.sealed += 1
        }
        if outcome.sealed > 0 {
            try tally.write(connection)
            try table.update(LogStateRow(size: appender.size, root: appender.root().bytes))
        }
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
