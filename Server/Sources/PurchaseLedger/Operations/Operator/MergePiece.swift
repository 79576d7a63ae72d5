import PurchaseVerification

/// One piece of the merge in progress.
struct MergePiece: LedgerOperation {
    let move: CustomerMoveRow
    /// What it moves.
    let grounds: [Int64]
    let locks: LedgerLocks
    /// About how many rows it changes.
    let rows: Int

    /// The next piece; `nil` if no merge is in progress. It is found before the write begins, so that the write knows
    /// its locks.
    init?(of connection: any LedgerConnection, rows: Int) throws(LedgerStorageError) {
        let transaction = LedgerTransaction(connection: connection, now: .epoch, registry: Registry(apps: []))
        guard let row = try transaction.move() else { return nil }
        let move = try CustomerMove(row, transaction)
        grounds = try move.nextGrounds()
        locks = .parts(try move.locks(of: grounds))
        (self.move, self.rows) = (row, rows)
    }

    /// Moves the piece.
    ///
    /// - Returns: how long it held its locks, without the commit.
    func perform(_ transaction: LedgerTransaction) throws -> Duration {
        let start = ContinuousClock.now
        // Another server can have finished it.
        guard let current = try transaction.move(), current == move else { return .zero }
        try CustomerMove(current, transaction).movePiece(grounds, rows: rows)
        return ContinuousClock.now - start
    }
}

extension PurchaseLedger {
    /// How long the caller of a merge waits for its rows. A request must not wait for those of a customer with 50,000
    /// purchases.
    private static let following = Duration.seconds(2)

    /// Moves the rows of the merge in progress, piece by piece; other writes run between the pieces.
    ///
    /// - Parameter limit: the time after which the rest is left to a later call; `nil` for no limit.
    /// - Returns: how many pieces were moved.
    @discardableResult
    public func finishMerges(for limit: Duration? = nil) async throws -> Int {
        var (pieces, size) = (0, MergePieceSize())
        let end = limit.map { ContinuousClock.now + $0 }
        while let time = try await movePiece(rows: size.rows) {
            pieces += 1
            size.note(time)
            if let end, ContinuousClock.now >= end { break }
        }
        return pieces
    }

    /// Moves rows of a merge that was just committed.
    func followMerge() async {
        do {
            try await finishMerges(for: Self.following)
        } catch {
            // The merge counts, so the caller gets its answer. The server continues, and reports an error that lasts.
        }
    }

    /// Moves a piece of the merge in progress.
    ///
    /// - Parameter rows: about how many rows it changes; other writes run between two pieces.
    /// - Returns: how long it took; `nil` if no merge is in progress.
    package func movePiece(rows: Int = MergePieceSize.most) async throws -> Duration? {
        guard let piece = try await database.read(.lists, { try MergePiece(of: $0, rows: rows) }) else { return nil }
        return try await perform(piece)
    }
}
