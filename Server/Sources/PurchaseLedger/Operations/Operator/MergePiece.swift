import PurchaseVerification

/// One piece of the merge in progress.
struct MergePiece: LedgerOperation {
    let move: CustomerMoveRow
    /// What it moves.
    let grounds: [Int64]
    let locks: LedgerLocks
    /// About how many rows it changes.
    let rows: Int

    /// The next piece; `nil` if no merge is in progress. It is found before the write begins, so that the write knows its locks.
    init?(of connection: any LedgerConnection, rows: Int) throws(LedgerStorageError) {
        let transaction = LedgerTransaction(connection: connection, now: .epoch, registry: Registry(apps: []))
        guard let row = try transaction.move() else { return nil }
        let move = try CustomerMove(row, transaction)
        grounds = try move.nextGrounds()
        locks = .parts(try move.locks(of: grounds))
        (self.move, self.rows) = (row, rows)
    }

    func perform(_ transaction: LedgerTransaction) throws {
        // Another server can have finished it.
        guard let current = try transaction.move(), current == move else { return }
        try CustomerMove(current, transaction).movePiece(grounds, rows: rows)
    }
}

extension PurchaseLedger {
    /// Moves the rows of the merge in progress, piece by piece; other writes run between the pieces.
    ///
    /// - Returns: how many pieces were moved.
    @discardableResult
    public func finishMerges() async throws -> Int {
        var pieces = 0
        while try await movePiece() { pieces += 1 }
        return pieces
    }

    /// Moves a piece of the merge in progress.
    ///
    /// - Parameter rows: about how many rows it changes; other writes run between two pieces.
    /// - Returns: whether there was one.
    package func movePiece(rows: Int = 500) async throws -> Bool {
        guard let piece = try await database.read(.lists, { try MergePiece(of: $0, rows: rows) }) else { return false }
        try await perform(piece)
        return true
    }
}
