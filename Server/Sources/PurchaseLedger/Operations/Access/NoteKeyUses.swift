public import PurchaseVerification

/// Notes when API keys were last used. It is no part of the journal.
public struct NoteKeyUses: LedgerOperation {
    /// The last use of each key, by its id.
    public var uses: [String: Timestamp]

    /// Notes uses.
    public init(_ uses: [String: Timestamp]) { self.uses = uses }

    public var locks: LedgerLocks { .parts([]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        let table = KeyUsesTable(connection: transaction.connection)
        // In one order, so that two servers never wait for each other.
        for (id, time) in uses.sorted(by: { $0.key < $1.key }) { try table.note(id, at: time) }
    }
}
