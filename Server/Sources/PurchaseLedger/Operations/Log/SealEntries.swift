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

/// Seals the journal into the Merkle log and publishes its checkpoints, at most a second after a commit.
///
/// The order is fixed: commit the tree; write its size and root to the signer's file and flush it; publish the
/// checkpoint. After a crash between two steps, the next round continues.
public actor LogSealing {
    let ledger: PurchaseLedger
    private let key: EntryKey
    private let signer: CheckpointSigner?
    private let publishers: [any CheckpointPublisher]
    private let interval: Duration
    /// The last checkpoint that each publisher accepted.
    private var published: [Checkpoint?]
    private var latest: Task<Round, any Error>?

    /// The result of a round.
    public struct Round: Sendable, Equatable {
        /// The number of entries that were sealed.
        public var sealed = 0
        /// The entries of this round that no server with the key wrote. They should raise an alarm.
        public var refused: [Int64] = []
        /// The number of such entries in all rounds.
        public var refusedInAll: Int64 = 0
        /// The checkpoint that was published; `nil` if the log did not change.
        public var checkpoint: SignedCheckpoint?
    }

    /// Creates a sealer of a ledger.
    ///
    /// - Parameters:
    ///   - ledger: the ledger, opened with the key of entries.
    ///   - signer: signs checkpoints; `nil` if another server does.
    ///   - publishers: the destinations of checkpoints.
    ///   - interval: the time between two rounds.
    /// - Throws: `notAuthentic` if the ledger was opened without the key of entries.
    public init(
        ledger: PurchaseLedger, signer: CheckpointSigner?, publishers: [any CheckpointPublisher] = [],
        interval: Duration = .milliseconds(500)
    ) throws(LogError) {
        guard let key = ledger.entryKey else {
            throw LogError(.notAuthentic, "the ledger was opened without the key of entries; nothing can be sealed")
        }
        self.ledger = ledger
        self.key = key
        self.signer = signer
        self.publishers = publishers
        published = Array(repeating: nil, count: max(1, publishers.count))
        self.interval = interval
    }

    /// Runs rounds until the task is cancelled, and then a last one.
    ///
    /// - Parameter report: called with the result of each round.
    public func run(_ report: @Sendable (Result<Round, any Error>) -> Void) async {
        while !Task.isCancelled {
            report(await result())
            do { try await Task.sleep(for: interval) } catch { break }
        }
        report(await result())
    }

    /// Seals pending entries, signs the tree, and publishes the checkpoint. Rounds never overlap, and cancelling a task
    /// does not interrupt its round.
    @discardableResult
    public func round() async throws -> Round {
        let before = latest
        let task = Task {
            _ = await before?.result
            return try await self.perform()
        }
        latest = task
        return try await task.value
    }

    private func result() async -> Result<Round, any Error> {
        do { return .success(try await round()) } catch { return .failure(error) }
    }

    private func perform() async throws -> Round {
        var round = try await seal()
        guard let signed = try await sign() else { return round }
        try await publish(signed)
        round.checkpoint = signed
        return round
    }

    // MARK: The three steps

    /// Commits the tree of all pending entries.
    package func seal() async throws -> Round {
        var round = Round()
        while true {
            let (isPending, refused) = try await ledger.answer(HasPendingEntries())
            round.refusedInAll = refused
            guard isPending else { return round }
            let outcome = try await ledger.perform(SealEntries(key: key))
            guard !outcome.isEmpty else { return round }
            round.sealed += outcome.sealed
            round.refused += outcome.refused
        }
    }

    /// Signs the tree after checking its new leaves and computing their root again.
    ///
    /// - Returns: `nil` without a signer, and if this tree was already published.
    /// - Throws: `shorter`, `rewritten` or `notAuthentic` if the log does not extend the last signed tree.
    package func sign() async throws -> SignedCheckpoint? {
        guard let signer else { return nil }
        let known = signer.knownSize
        let log = try await ledger.answer(LogEdge(size: known == nil ? signer.head.size : nil))
        if let edge = log.edge { try signer.begin(edge) }
        if published.allSatisfy({ $0?.size == log.size && $0?.root == log.root }) { return nil }
        var next = known ?? signer.head.size
        guard next <= log.size else {
            throw LogError(.shorter, "the log has \(log.size) leaves, and \(next) were read before")
        }
        while next < log.size {
            let leaves = try await ledger.answer(LogLeaves(key: key, range: next..<log.size))
            signer.extend(leaves)
            next += Int64(leaves.count)
        }
        return try signer.sign(log.root)
    }

    /// Publishes a checkpoint. If a publisher fails, the next round publishes to it again; the other publishers are not
    /// affected.
    package func publish(_ signed: SignedCheckpoint) async throws {
        var failure: (any Error)?
        for (index, publisher) in publishers.enumerated() where published[index] != signed.checkpoint {
            do {
                try await publisher.publish(signed)
                published[index] = signed.checkpoint
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        if publishers.isEmpty { published = [signed.checkpoint] }
    }
}

/// The size and root that the log states, and its edge at an earlier size.
struct LogEdge: LedgerQuery {
    static var access: LedgerReadAccess { .confirmed }

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

/// Leaves of the log, each authenticated as written by a server with the key.
struct LogLeaves: LedgerQuery {
    static var access: LedgerReadAccess { .confirmed }
    /// Leaves of a page.
    static let limit: Int64 = 1024

    let key: EntryKey
    let range: Range<Int64>

    func answer(_ reader: LedgerTransaction) throws -> [MerkleHash] {
        let limit = min(Self.limit, range.upperBound - range.lowerBound)
        var hashes: [MerkleHash] = []
        for row in try LogEntriesTable(connection: reader.connection).rows(from: range.lowerBound, limit: limit) {
            guard row.leafNumber == range.lowerBound + Int64(hashes.count), let leaf = row.leaf else { break }
            guard key.authenticates(leaf, id: row.entryID, code: row.mac) else {
                throw LogError(
                    .notAuthentic,
                    "entry \(row.entryKey), leaf \(row.leafNumber), was not written by a server with the key")
            }
            hashes.append(.leaf(leaf))
        }
        guard hashes.count == limit else {
            throw LogError(.rewritten, "the log lacks leaf \(range.lowerBound + Int64(hashes.count))")
        }
        return hashes
    }
}
