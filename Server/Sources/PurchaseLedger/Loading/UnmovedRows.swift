import PurchaseVerification

import struct Foundation.UUID

/// What a ledger has not moved yet of the merge in progress. A rebuild leaves it as it is.
struct UnmovedRows: Sendable {
    /// The journal entry of the merge; `nil` if none is in progress.
    var entry: UUID?
    var originals: Set<OriginalKey> = []
    /// The ids of the consumptions.
    var consumptions: Set<String> = []
    var orders: Set<UUID> = []

    var isInProgress: Bool { entry != nil }

    /// Reads a ledger.
    init(of connection: any LedgerConnection) throws(LedgerStorageError) {
        guard let move = try CustomerMovesTable(connection: connection).row() else { return }
        entry = try JournalTable(connection: connection).row(key: move.entryKey)?.id
        let from = move.customerKey
        let environments = EnvironmentsTable(connection: connection)
        var keys = Set(try TransactionsTable(connection: connection).originals(of: from, limit: .max))
        keys.formUnion(
            try EntitlementsTable(connection: connection).ofOriginals(from, limit: .max).map(\.ground))
        keys.formUnion(try TakesTable(connection: connection).grounds(of: from, limit: .max).filter { $0 > 0 })
        for key in keys {
            let original = try OriginalsTable(connection: connection).row(key)
            originals.insert(
                OriginalKey(
                    environment: try environments.environment(original.environment),
                    transactionID: ExactText(original.originalID), second: original.xcodeSecond))
        }
        consumptions = Set(
            try ConsumptionsTable(connection: connection).movable(from: from, to: move.targetKey, limit: .max))
        orders = Set(try OrdersTable(connection: connection).ids(of: from, limit: .max).map(\.id))
    }

    /// Nothing: a rebuild moves every row with its merge.
    init() {}

    /// What of it concerns a merge.
    func of(_ entry: UUID) -> UnmovedRows { self.entry == entry ? self : UnmovedRows() }
}
