/// The rows that the ledger wrote for one purchase of a consumable, in the order of writing, and the rows that it read
/// before.
package struct PurchaseRows: Sendable {
    package internal(set) var rows: [(table: WrittenTable, values: [Value])] = []
    var customer: [Value] = []
    var transaction: [Value] = []
    var product: [Value] = []
    var original: [Value] = []

    /// The last numbers that a ledger assigned.
    package struct Position: Sendable {
        let entry, event, customer: Value

        /// The position before the first purchase.
        package static let start = Position(entry: .integer(0), event: .integer(0), customer: .integer(0))

        /// The position after the last row.
        package init(endOf database: Connection) throws {
            func last(_ column: String, _ table: String) throws -> Value {
                try Statement("SELECT coalesce(max(\(column)), 0) FROM \(table)", database).rows()[0][0]
            }
            entry = try last("entry_key", "journal")
            event = try last("event_key", "events")
            customer = try last("customer_key", "customers")
        }

        private init(entry: Value, event: Value, customer: Value) {
            (self.entry, self.event, self.customer) = (entry, event, customer)
        }
    }

    /// Reads the purchases after a position.
    package static func read(from database: Connection, after position: Position) throws -> [PurchaseRows] {
        func by(_ column: String, _ table: String) throws -> (Value) throws -> [Value]? {
            let statement = try Statement("SELECT * FROM \(table) WHERE \(column) = ?1", database)
            return { try statement.rows([$0]).first }
        }
        let (evidence, customer) = (try by("evidence_key", "evidence"), try by("customer_key", "customers"))
        let (transaction, original) = (try by("transaction_key", "transactions"), try by("original_key", "originals"))
        let (lot, act) = (try by("ground", "lots"), try by("original_key", "ownership_acts"))
        let (entitlement, product) = (try by("customer_key", "entitlements"), try by("product_key", "products"))
        let events = Dictionary(
            uniqueKeysWithValues: try Statement(
                "SELECT * FROM events WHERE event_key > ?1 AND customer_key IS NOT NULL", database
            ).rows([position.event]).map { ($0[2], $0) })
        let entries = try Statement(
            "SELECT * FROM journal WHERE entry_key > ?1 AND evidence_key IS NOT NULL ORDER BY entry_key", database
        ).rows([position.entry])
        var known: Set<Value> = []
        return try entries.map { entry in
            guard let transaction = try transaction(entry[8]), let original = try original(transaction[1]),
                let customer = try customer(entry[6]), let evidence = try evidence(entry[9]),
                let lot = try lot(original[0]), let act = try act(original[0]), let event = events[entry[0]],
                let product = try product(transaction[5]), var entitlement = try entitlement(customer[0])
            else { throw BenchmarkError("a purchase of the ledger has not the rows that the bare loop writes") }
            entitlement[5] = .integer(1)
            var purchase = PurchaseRows()
            purchase.rows.append((.evidence, evidence))
            if position.customer.number < customer[0].number, known.insert(customer[0]).inserted {
                purchase.rows.append((.customers, customer))
            }
            purchase.rows += [
                (.originals, original), (.transactions, transaction), (.lots, lot), (.entitlements, entitlement),
                (.journal, entry), (.ownershipActs, act), (.events, event),
            ]
            purchase.customer = [customer[1], customer[3]]
            purchase.transaction = [transaction[2], transaction[3], transaction[4]]
            purchase.product = [product[1], product[2]]
            purchase.original = [original[1], original[2], original[3]]
            return purchase
        }
    }

    /// Deletes purchases that the bare loop wrote, and their units from the balances.
    package static func delete(_ purchases: [PurchaseRows], from database: Connection) throws {
        let triggers = try Statement("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'", database).rows()
        try database.execute("BEGIN IMMEDIATE")
        for trigger in triggers { try database.execute("DROP TRIGGER \(trigger[0].string)") }
        for purchase in purchases {
            for (table, values) in purchase.rows {
                if let column = table.numbers.first {
                    try Statement("DELETE FROM \(table.name) WHERE \(table.key) = ?1", database).run([values[column]])
                } else if let undo = table.undo {
                    try Statement(undo, database).run(Array(values.prefix(4)))
                }
            }
        }
        for trigger in triggers { try database.execute(trigger[1].string) }
        try database.execute("COMMIT")
    }

    /// The same purchase with other numbers, so that it can be written beside the first.
    ///
    /// - Parameters:
    ///   - count: the number to add to each number that the ledger assigned.
    ///   - prefix: the prefix of transaction ids.
    package func shifted(by count: Int64, prefix: UInt8) -> PurchaseRows {
        var other = self
        other.rows = rows.map { table, values in
            var values = values
            for column in table.numbers { values[column] = values[column].adding(count) }
            for column in table.ids { values[column] = values[column].prefixed(prefix) }
            for column in table.hashes { values[column] = values[column].inverted }
            return (table, values)
        }
        other.transaction[1] = transaction[1].prefixed(prefix)
        other.original[1] = original[1].prefixed(prefix)
        return other
    }
}

extension Value {
    fileprivate var string: String {
        guard case .text(let bytes) = self else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    fileprivate var number: Int64 {
        guard case .integer(let number) = self else { return 0 }
        return number
    }

    fileprivate func adding(_ count: Int64) -> Value {
        guard case .integer(let number) = self else { return self }
        return .integer(number + count)
    }

    fileprivate func prefixed(_ byte: UInt8) -> Value {
        guard case .text(let text) = self else { return self }
        return .text([byte] + text)
    }

    /// The id with the second half of its bits inverted. Ids begin with their time, which stays.
    fileprivate var inverted: Value {
        guard case .blob(var bytes) = self else { return self }
        for index in bytes.count / 2..<bytes.count { bytes[index] = ~bytes[index] }
        return .blob(bytes)
    }
}
