import PurchaseVerification

extension PurchaseLedger {
    /// Compares the Merkle log with the journal and with checkpoints. It reads pages, so it neither holds a transaction
    /// open nor needs memory in proportion to the log.
    ///
    /// - Parameters:
    ///   - checkpoints: the checkpoints that the log must agree with. Their signatures were verified
    ///     (`SignedCheckpoint`).
    ///   - since: a checkpoint whose leaves are not read: that the log extends it follows from its stored tiles.
    ///   - endedKeys: the public keys whose origins may have ended. A checkpoint of another key is never set aside.
    ///   - lateAfter: the number of seconds after which a pending entry is late.
    /// - Throws: `LedgerStorageError`.
    public func auditLog(
        _ checkpoints: [Checkpoint], since: Checkpoint? = nil, endedKeys: [LogVerifierKey] = [], lateAfter: Int64 = 60
    ) async throws -> LogAuditReport {
        var audit = LogAudit(
            ledger: underAudit, checkpoints: checkpoints.sorted { $0.size < $1.size }, since: since, keys: endedKeys)
        return try await audit.run(lateAfter: lateAfter)
    }
}

/// An audit of the Merkle log.
struct LogAudit {
    /// The findings that are kept; the rest are only counted.
    static let findings = 1000
    /// Rows of a page.
    private static let page: Int64 = 1024

    let ledger: PurchaseLedger
    private var checkpoints: ArraySlice<Checkpoint>
    private let since: Checkpoint?
    private let keys: [LogVerifierKey]
    private var report = LogAuditReport()

    init(
        ledger: PurchaseLedger, checkpoints: [Checkpoint], since: Checkpoint? = nil, keys: [LogVerifierKey] = []
    ) {
        self.ledger = ledger
        self.since = since
        self.keys = keys
        self.checkpoints = checkpoints[...]
    }

    mutating func run(lateAfter: Int64) async throws -> LogAuditReport {
        report.hasCheckedCodes = ledger.entryKey != nil
        do {
            try await compareAll(lateAfter)
        } catch let error as LedgerStorageError where [.corrupt, .constraint, .other].contains(error.kind) {
            // A program other than a server wrote to the database.
            add(.auditIncomplete, "\(error)")
        }
        return report
    }

    private mutating func compareAll(_ lateAfter: Int64) async throws {
        let root = try await readState()
        try await readOrigin()
        try await compareKey()
        if let since {
            guard since.size <= report.size else {
                return add(.recordShorter, "the log has \(report.size) leaves, and the checkpoint \(since.size)")
            }
        }
        // It reads the whole journal. Checkpoints of one origin that the log covers are of none that ended.
        if since == nil || Set(checkpoints.map { ExactText($0.origin) }).count > 1
            || checkpoints.last.map({ $0.size > report.size }) ?? false
        {
            let ended = try await EndedOrigins(ledger: ledger, keys: keys).setAside(from: Array(checkpoints))
            checkpoints = ended.remaining[...]
            report.continuations += ended.continuations
        }
        while let checkpoint = checkpoints.last, checkpoint.size > report.size {
            add(.recordShorter, "the log has \(report.size) leaves, and the checkpoint \(checkpoint.size)")
            checkpoints.removeLast()
        }
        try await readLeaves(root)
        guard since == nil || report.since != nil else { return }
        try await readJournal()
        try await readPending(lateAfter)
    }

    private mutating func add(_ kind: LogFinding.Kind, _ detail: String) {
        guard report.findings.count < Self.findings else {
            report.omitted += 1
            return
        }
        report.findings.append(LogFinding(kind: kind, detail: detail))
    }

    /// Reads the stated size and root, with which the leaves must agree.
    private mutating func readState() async throws -> [UInt8] {
        let (state, beyond, tiles) = try await ledger.database.read(.lists) { connection in
            let state = try LogStateTable(connection: connection).row()
            let table = LogEntriesTable(connection: connection)
            return (
                state,
                try table.rows(from: .min, limit: 1).filter { $0.leafNumber < 0 }
                    + table.rows(from: state.size, limit: 1),
                try LogTilesTable(connection: connection).unknown(size: state.size, limit: 16)
            )
        }
        report.size = state.size
        for row in beyond {
            add(.leafUnknown, "leaf \(row.leafNumber) is beyond the log's size of \(state.size)")
        }
        for tile in tiles {
            add(.tileUnknown, "tile_key \(tile) of log_tiles is not a full tile of a log of \(state.size) leaves")
        }
        return state.root
    }

    /// Says where the app of the ledger came from, if its first leaf does.
    private mutating func readOrigin() async throws {
        guard let from = try await ledger.database.read(.lists, { try AppMovedDetails.From.of($0) }) else { return }
        report.continuations.append(
            """
            the ledger begins with the app \(from.app), which moved out of \(from.origin) when that had \(from.size) leaves \
            and the root \(from.root)
            """)
    }

    /// Checks that the database names the given key of entries.
    private mutating func compareKey() async throws {
        guard let key = ledger.entryKey else { return }
        let id = try await ledger.database.read(.lists) { try LogStateTable(connection: $0).entryKeyID() }
        guard id.map({ $0.isSame(as: key.id) }) != true else { return }
        add(.entryKeyDiffers, "the database names key \(id ?? "none"), and the given one is \(key.id)")
    }

    private struct Page: Sendable {
        var rows: [LogEntryRow]
        /// The stored tiles by their keys.
        var tiles: [Int64: LogTile]
    }

    private struct LogTile: Sendable, Equatable {
        var root: [UInt8]?
        var hashes: [UInt8]?
    }

    /// The tree before the first leaf that is read; `nil` if the log does not extend the checkpoint.
    ///
    /// The hashes of the stored tiles give the root of the checkpoint, so they are those that were signed.
    private mutating func start() async throws -> MerkleAppender? {
        guard let since else { return MerkleAppender() }
        let (size, earlier) = (report.size, Array(checkpoints.prefix { $0.size < since.size }))
        checkpoints.removeFirst(earlier.count)
        let (tree, differing) = try await ledger.database.read(.lists) { connection in
            let source = LogHashes(connection, size: size)
            let tree = try MerkleAppender(size: since.size, source: source)
            let differing = try earlier.filter { checkpoint in
                let path = try MerkleTree(size: since.size, source: source).consistencyProof(from: checkpoint.size)
                return !MerkleProof.extends(
                    from: (checkpoint.size, checkpoint.root), to: (since.size, since.root), path: path ?? [])
            }
            return (tree, differing)
        }
        for checkpoint in differing {
            add(.recordRewritten, "the checkpoint of \(since.size) leaves does not extend that of \(checkpoint.size)")
        }
        let root = tree.root()
        guard root == since.root else {
            add(
                .recordRewritten,
                """
                at size \(since.size) the log has the root \(root.bytes.hexadecimal), and the checkpoint \
                \(since.root.bytes.hexadecimal); audit the whole log
                """)
            return nil
        }
        report.since = since.size
        return tree
    }

    /// Computes the tree again and compares its roots, tiles and entries.
    private mutating func readLeaves(_ root: [UInt8]) async throws {
        guard var tree = try await start() else { return }
        compareCheckpoints(tree)
        while tree.size < report.size {
            let (first, limit) = (tree.size, min(Self.page, report.size - tree.size))
            let page = try await ledger.database.read(.lists) { connection in
                try Self.page(from: first, limit: limit, connection)
            }
            for row in page.rows {
                guard row.leafNumber == tree.size, let leaf = row.leaf else { break }
                if let key = ledger.entryKey, !key.authenticates(leaf, id: row.entryID, code: row.mac) {
                    add(.entryNotAuthentic, "entry \(row.entryKey), leaf \(row.leafNumber)")
                }
                for tile in tree.append(.leaf(leaf)) { compare(tile, page.tiles) }
                compareCheckpoints(tree)
            }
            guard tree.size == first + limit else {
                add(.leafMissing, "leaf \(tree.size) of \(report.size)")
                for checkpoint in checkpoints {
                    add(
                        .recordRewritten,
                        "without leaf \(tree.size), no root at size \(checkpoint.size) can be computed")
                }
                return
            }
        }
        if tree.root().bytes != root {
            add(
                .rootDiffers,
                "the leaves have the root \(tree.root().bytes.hexadecimal), and the log states \(root.hexadecimal)")
        }
    }

    private static func page(
        from first: Int64, limit: Int64, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> Page {
        let table = LogTilesTable(connection: connection)
        var page = Page(rows: try LogEntriesTable(connection: connection).rows(from: first, limit: limit), tiles: [:])
        for level in 0..<MerkleTile.levels {
            let shift = MerkleTile.shift(level)
            let numbers = ((first >> shift) / MerkleTile.width)..<(((first + limit) >> shift) / MerkleTile.width)
            for number in numbers {
                page.tiles[LogTilesTable.key(level: level, number: number)] = LogTile(
                    root: try table.roots(level: level, from: number, count: 1).first,
                    hashes: try table.hashes(level: level, number: number))
            }
        }
        return page
    }

    private mutating func compare(_ tile: MerkleTile, _ stored: [Int64: LogTile]) {
        let expected = LogTile(root: tile.root.bytes, hashes: tile.hashes.concatenated)
        guard stored[LogTilesTable.key(level: tile.level, number: tile.number)] != expected else { return }
        add(.tileDiffers, "tile \(tile.number) of level \(tile.level)")
    }

    private mutating func compareCheckpoints(_ tree: MerkleAppender) {
        while let checkpoint = checkpoints.first, checkpoint.size == tree.size {
            checkpoints.removeFirst()
            let root = tree.root()
            guard root != checkpoint.root else { continue }
            add(
                .recordRewritten,
                """
                at size \(checkpoint.size) the log has the root \(root.bytes.hexadecimal), and the checkpoint \
                \(checkpoint.root.bytes.hexadecimal)
                """)
        }
    }

    /// Checks that every entry up to the last one that was examined is in the log.
    private mutating func readJournal() async throws {
        var last = try await firstUnread()
        while true {
            let key = last
            let (entries, end) = try await ledger.database.read(.lists) { connection in
                try LogEntriesTable(connection: connection).forgotten(after: key, limit: Self.page)
            }
            for entry in entries { add(.entryForgotten, "entry \(entry) has no leaf, and the log goes beyond it") }
            guard let end else { return }
            last = end
        }
    }

    /// The number of the last entry that the checkpoint covers, after which entries are looked for.
    private func firstUnread() async throws -> Int64 {
        guard let since, since.size > 0 else { return 0 }
        return try await ledger.database.read(.lists) { connection in
            try LogEntriesTable(connection: connection).rows(from: since.size - 1, limit: 1).first?.entryKey ?? 0
        }
    }

    private mutating func readPending(_ lateAfter: Int64) async throws {
        report.pending = try await ledger.database.read(.lists) { try LogStateTable(connection: $0).pending() }
        let now = ledger.clock().millisecondsSince1970
        if let oldest = report.pending.oldest?.millisecondsSince1970 {
            report.isSealingLate = now > oldest && now - oldest > lateAfter * 1000
        }
        guard let entryKey = ledger.entryKey else { return }
        let state = try await ledger.database.read(.lists) { try LogStateTable(connection: $0).row() }
        var last = state.sealedUpTo
        while true {
            let key = last
            let entries = try await ledger.database.read(.lists) { connection in
                try PendingEntry.all(after: key, limit: Self.page, connection)
            }
            // A server can have sealed some since.
            for entry in entries where entry.sealed ?? -1 < state.size && entry.authenticLeaf(entryKey) == nil {
                add(
                    .pendingRefused,
                    "entry \(entry.entryKey) was not written by a server with the key, or is in the log")
            }
            guard let end = entries.last?.entryKey else { return }
            last = end
        }
    }
}

extension LogTilesTable {
    /// The keys of tiles that are not full in a log of a size, or that no log can have.
    ///
    /// - Parameter limit: the number of keys of a level that are read.
    fileprivate func unknown(size: Int64, limit: Int64) throws(LedgerStorageError) -> [Int64] {
        var gaps = [Int64.min ... -1]
        for level in 0..<MerkleTile.levels {
            let first = Self.key(level: level, number: MerkleTile.full(level: level, size: size))
            gaps.append(first...(level + 1 < MerkleTile.levels ? Self.key(level: level + 1, number: 0) - 1 : .max))
        }
        var keys: [Int64] = []
        for gap in gaps { keys += try self.keys(in: gap, limit: limit) }
        return keys
    }
}

/// Compares the numbers of entries with their order in the log, which is the order of the numbers on both engines
/// (`SealEntries`).
///
/// The ledger orders claims of one purchase, and merges, by the numbers of their entries, so somebody who exchanges the
/// numbers of two entries must not stay unnoticed.
struct EntryOrder: Sendable {
    /// The greatest number so far.
    private(set) var last: Int64 = 0

    init(last: Int64 = 0) { self.last = last }

    /// The finding if an entry has a lower number than an earlier one.
    mutating func finding(_ row: JournalRow, _ kind: JournalKind) -> AuditFinding? {
        defer { last = max(last, row.key) }
        guard row.key < last else { return nil }
        return AuditFinding(
            kind: .orderDiffers,
            detail: "entry \(row.key) (\(kind.name)) comes after entry \(last), which has the greater number")
    }
}
