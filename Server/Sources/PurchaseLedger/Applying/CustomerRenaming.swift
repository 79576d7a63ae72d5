import PurchaseVerification

/// The rows of a merged customer, which become those of the customer who remains (docs/ledger.md, "A merge").
///
/// What only one of the two has is renamed by one statement a table. What both have is computed again: originals of
/// which both owned, claimed or used something, balances, and chains of passes.
struct CustomerRenaming {
    let transaction: LedgerTransaction
    let app: RegistryApp
    let from: Int64
    let to: Int64
    let entry: JournalEntry

    private var connection: any LedgerConnection { transaction.connection }

    /// The originals in which a customer has rows: those that they own, those of which they have a row of access, and
    /// those from which they took units.
    private static let grounds = """
        SELECT original_key AS ground FROM transactions WHERE owner_key = ?1
        UNION SELECT ground FROM entitlements WHERE customer_key = ?1 AND ground > 0
        UNION SELECT ground FROM takes WHERE customer_key = ?1 AND ground > 0
        """

    /// The locks of a merge: both customers, and the originals in which the merged one has rows. For more than a
    /// transaction may lock, the merge takes the whole ledger (`LedgerLocks.bounded`).
    static func locks(
        of customer: CustomerRow, into target: CustomerRow, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> [LedgerLock] {
        var locks = [customer.lock, target.lock]
        for row in try transaction.connection.rows(
            """
            SELECT DISTINCT environment, original_id FROM originals WHERE original_key IN (\(grounds)) LIMIT ?2
            """, [.integer(customer.key), .integer(Int64(LedgerLocks.limit))])
        {
            var reader = row.reader
            let environment = try transaction.environments.environment(try reader.integer())
            locks.append(.original(environment, try reader.text()))
        }
        return locks
    }

    /// The number of originals in which a customer has rows.
    static func count(
        of customer: Int64, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> Int64 {
        let rows = try connection.rows("SELECT count(*) FROM (\(grounds)) AS grounds", [.integer(customer)])
        guard var reader = rows.first?.reader else { return 0 }
        return try reader.integer()
    }

    /// Renames everything.
    func run() throws(LedgerStorageError) {
        transaction.entitlementWrites?.forgetEverything()
        let shared = try sharedOriginals()
        try SeatsTable(connection: connection).move(from: from, to: to)
        try ConsumptionConsentsTable(connection: connection).move(from: from, to: to)
        try OfferSignaturesTable(connection: connection).move(from: from, to: to)
        try TestersTable(connection: connection).move(from: from, to: to)
        try rename("hand_grants")
        try rename("orders")
        // An id that both used stays with the merged customer.
        try rename(
            "consumptions",
            """
            AND NOT EXISTS (SELECT 1 FROM consumptions AS used
            WHERE used.customer_key = ?2 AND used.consumption_id = consumptions.consumption_id)
            """)
        for original in shared { try computeAgain(original) }
        for ground in try sharedLots() { try renameLot(ground) }
        try connection.send(
            to: "transactions", "UPDATE transactions SET owner_key = ?2, owner_reason = 'merge' WHERE owner_key = ?1",
            [.integer(from), .integer(to)])
        // Each half has an index by customer.
        try rename("lots", "AND available = 0")
        try rename("lots", "AND available > 0")
        try rename("takes")
        try renameAccess()
        transaction.entitlementWrites?.forgetEverything()
    }

    private func rename(_ table: String, _ condition: String = "") throws(LedgerStorageError) {
        try connection.send(
            to: table, "UPDATE \(table) SET customer_key = ?2 WHERE customer_key = ?1 \(condition)",
            [.integer(from), .integer(to)])
    }

    private func keys(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> [Int64] {
        var keys: [Int64] = []
        for row in try connection.rows(sql, parameters) {
            var reader = row.reader
            keys.append(try reader.integer())
        }
        return keys
    }

    // MARK: Originals and lots of both

    /// The originals of the merged customer that concern the other one too, also under the name of somebody merged
    /// before, and those that can pay an open order of the other one.
    private func sharedOriginals() throws(LedgerStorageError) -> [Int64] {
        try keys(
            """
            WITH RECURSIVE names (customer) AS (
                SELECT ?2 UNION SELECT customer_key FROM customers JOIN names ON merged_into = customer),
            grounds AS (\(Self.grounds))
            SELECT ground FROM grounds WHERE EXISTS (
                SELECT 1 FROM transactions WHERE original_key = ground AND owner_key = ?2)
            OR EXISTS (SELECT 1 FROM ownership_acts WHERE original_key = ground
                AND customer_key <> ?1 AND customer_key IN (SELECT customer FROM names))
            OR EXISTS (SELECT 1 FROM ownership_acts WHERE original_key = ground
                AND former_key <> ?1 AND former_key IN (SELECT customer FROM names))
            OR EXISTS (SELECT 1 FROM takes WHERE takes.ground = grounds.ground AND customer_key = ?2)
            OR EXISTS (SELECT 1 FROM entitlements AS own JOIN entitlements AS other
                ON other.customer_key = ?2 AND other.product_key = own.product_key
                AND other.environment = own.environment AND other.ground = own.ground
                WHERE own.customer_key = ?1 AND own.ground = grounds.ground)
            UNION SELECT original_key FROM transactions WHERE owner_key = ?1 AND product_key IN (
                SELECT product_key FROM orders WHERE customer_key = ?2 AND status = 'created')
            ORDER BY 1
            """, [.integer(from), .integer(to)])
    }

    /// Computes an original again, under the entry of the merge. What it gave the merged customer is removed first.
    private func computeAgain(_ key: Int64) throws(LedgerStorageError) {
        try renameLot(key)
        try connection.send(
            to: "entitlements", "DELETE FROM entitlements WHERE customer_key = ?1 AND ground = ?2",
            [.integer(from), .integer(key)])
        transaction.entitlementWrites?.forgetEverything()
        let changes = LedgerChanges(transaction, app: app)
        try changes.identities.readMerges(of: from)
        let index = try changes.history(key)
        changes.touch(index)
        try changes.settle()
        // One event tells of the whole merge.
        try changes.finish(entry, besides: .transferred)
    }

    /// The lots from which one of the two took units although the other owns them, or from which units were taken
    /// without a lot.
    private func sharedLots() throws(LedgerStorageError) -> [Int64] {
        try keys(
            """
            SELECT takes.ground FROM takes LEFT JOIN lots ON lots.ground = takes.ground
            WHERE takes.customer_key = ?1 AND (lots.customer_key IS NULL OR lots.customer_key <> ?1)
            UNION SELECT takes.ground FROM takes JOIN lots ON lots.ground = takes.ground
            WHERE takes.customer_key = ?2 AND lots.customer_key = ?1 ORDER BY 1
            """, [.integer(from), .integer(to)])
    }

    /// Renames a lot and the units taken from it, and moves its part of both balances. If one of the two took from a
    /// lot that the other owns, both now belong to the customer who remains.
    private func renameLot(_ ground: Int64) throws(LedgerStorageError) {
        let (lots, takes) = (LotsTable(connection: connection), TakesTable(connection: connection))
        let units = try takes.units(of: ground)
        let (fromUnits, toUnits) = (units[from] ?? 0, units[to] ?? 0)
        if fromUnits > 0 {
            try takes.delete(ground, of: from)
            try takes.add(fromUnits, from: ground, by: to)
        }
        // Without a lot, the units count if the original gets one.
        guard let former = try lots.row(ground) else { return }
        var lot = former
        if lot.customerKey == from { lot.customerKey = to }
        if lot.customerKey == to { lot.taken = fromUnits + toUnits }
        guard lot != former || fromUnits > 0 else { return }
        // A lot of somebody else is theirs to write: they consume from it under their own lock alone.
        if lot != former { try lots.write(lot, isNew: false) }
        let (before, after) = (former.part(of: to, taken: toUnits), lot.part(of: to, taken: fromUnits + toUnits))
        try add(ConsumableBalance(), minus: former.part(of: from, taken: fromUnits), of: lot, to: from)
        // Who gets a lot has a balance, even if the lot is used up.
        try add(after, minus: before, of: lot, to: to, isNewOwner: former.customerKey == from)
    }

    /// Adds a difference to a balance. The reason of an empty one can change without it.
    private func add(
        _ after: ConsumableBalance, minus before: ConsumableBalance, of lot: LotRow, to customer: Int64,
        isNewOwner: Bool = false
    ) throws(LedgerStorageError) {
        let row = EntitlementRow(
            balance: (0, 0), of: customer, product: lot.productKey, environment: lot.environment)
        if before != after || isNewOwner {
            try transaction.entitlements.add(
                after.remaining - before.remaining, shortfall: after.shortfall - before.shortfall, to: row)
        }
        try transaction.entitlements.explain(row)
    }

    // MARK: Access

    /// Renames the rows of access, adds the balances, and chains the passes of both.
    private func renameAccess() throws(LedgerStorageError) {
        let sums = try EntitlementRow.all(
            "WHERE customer_key = ?1 AND ground IN (?2, ?3)",
            [.integer(from), .integer(EntitlementRow.wholeGround), .integer(EntitlementRow.passGround)], connection)
        try connection.send(
            to: "entitlements", "DELETE FROM entitlements WHERE customer_key = ?1 AND ground IN (?2, ?3)",
            [.integer(from), .integer(EntitlementRow.wholeGround), .integer(EntitlementRow.passGround)])
        try rename("entitlements")
        transaction.entitlementWrites?.forgetEverything()
        for sum in sums {
            guard sum.ground == EntitlementRow.passGround else {
                let row = EntitlementRow(
                    balance: (0, 0), of: to, product: sum.productKey, environment: sum.environment)
                try transaction.entitlements.add(sum.balance, shortfall: sum.shortfall, to: row)
                try transaction.entitlements.explain(row)
                continue
            }
            let grounds = try PassReader(transaction: transaction)
                .grounds(of: to, product: sum.productKey, environment: sum.environment)
            guard let passes = grounds.joined else { continue }
            try transaction.entitlements.write(
                EntitlementRow(
                    passes.timeline, passes.kind, of: to, product: sum.productKey, environment: sum.environment,
                    ground: EntitlementRow.passGround))
        }
    }
}
