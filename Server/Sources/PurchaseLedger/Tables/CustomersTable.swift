import PurchaseVerification

import struct Foundation.UUID

struct CustomersTable {
    /// A customer by app and name; the first column is the key.
    static let byName = ReadShape(
        CustomerRow.table.select("WHERE app_key = ?1 AND name = ?2"),
        of: ReadScope(CustomerRow.table.name, by: "app_key", "name"), [.value, .value],
        numbering: CustomerRow.table.numbering)
    private static let byKey = ReadShape(
        CustomerRow.table.select("WHERE customer_key = ?1"), of: ReadScope(CustomerRow.table.name, by: "customer_key"),
        [.value])
    /// The customer of an order.
    static let ofOrder = ReadShape(
        byKey.sql, of: byKey.scope, [.column(3, of: OrdersTable.byID)])
    /// The owners of an original's transactions, and the customers of all acts on them.
    static let ofOriginal = ReadShape(
        CustomerRow.table.select(
            """
            JOIN (SELECT owner_key FROM transactions WHERE original_key = ?1
            UNION SELECT customer_key FROM ownership_acts WHERE original_key = ?1
            UNION SELECT former_key FROM ownership_acts WHERE original_key = ?1) AS concerned (concerned_key)
            ON concerned_key = customer_key ORDER BY customer_key
            """), of: [], [.column(0, of: OriginalsTable.byNumber)], single: byKey)
    /// A customer, the one into whom they were merged, and so on.
    static let survivors = ReadShape(
        """
        WITH RECURSIVE chain (chain_key, next_key) AS (
        SELECT customer_key, merged_into FROM customers WHERE customer_key = ?1
        UNION SELECT customers.customer_key, customers.merged_into FROM customers
        JOIN chain ON customers.customer_key = chain.next_key)
        \(CustomerRow.table.select("JOIN chain ON chain_key = customer_key"))
        """, of: [], [.value], single: byKey)
    /// The customer to whom a token was assigned.
    static let ofToken = ReadShape(
        byKey.sql, of: byKey.scope, [.column(0, of: AccountTokensTable.assignment)])
    /// The maximum length of a chain of merges; no longer chain is created, so no reader can hang.
    static let mergeDepth = 64

    let connection: any LedgerConnection

    /// The customer with a reference. It scans the table; only a repair calls it.
    func row(reference: [UInt8]) throws(LedgerStorageError) -> CustomerRow? {
        try CustomerRow.first("WHERE reference = ?1", [.blob(reference)], connection)
    }

    func row(_ key: Int64) throws(LedgerStorageError) -> CustomerRow {
        guard let row = try CustomerRow.first(Self.byKey, [.integer(key)], connection) else {
            throw LedgerStorageError(.corrupt, "there is no customer \(key)")
        }
        return row
    }

    /// The customer with a name, before any merge.
    func named(_ name: String, appKey: Int64) throws(LedgerStorageError) -> CustomerRow? {
        try CustomerRow.first(Self.byName, [.integer(appKey), .text(name)], connection)
    }

    /// The customers whose names begin with a text: first those that begin with it exactly, then, whatever their case
    /// and accents, the others.
    func beginning(with text: String, appKey: Int64, limit: Int64) throws(LedgerStorageError) -> [CustomerRow] {
        var found: [CustomerRow] = []
        let folded = text.folded
        for (column, start) in [("name", text), ("name", folded), ("folded", folded)]
        where !start.isEmpty || text.isEmpty {
            // Names are compared by their bytes in UTF-8, of which U+10FFFF has the greatest.
            let rows = try CustomerRow.all(
                "WHERE app_key = ?1 AND \(column) >= ?2 AND \(column) < ?3 ORDER BY \(column) LIMIT ?4",
                [.integer(appKey), .text(start), .text(start + "\u{10FFFF}"), .integer(limit)], connection)
            found += rows.filter { row in !found.contains { $0.key == row.key } }
        }
        return Array(found.prefix(Int(limit)))
    }

    /// The customer that remains after all merges of a customer.
    func surviving(_ customer: CustomerRow) throws(LedgerStorageError) -> CustomerRow {
        var customer = customer
        for _ in 0..<Self.mergeDepth {
            guard let target = customer.mergedInto else { return customer }
            customer = try row(target)
        }
        throw LedgerStorageError(.corrupt, "the merges of customer \(customer.key) form a cycle")
    }

    /// The customers of an app who were merged into another. It scans the table; only an erasure calls it.
    func merged(appKey: Int64) throws(LedgerStorageError) -> [CustomerRow] {
        try CustomerRow.all(
            "WHERE app_key = ?1 AND merged_into IS NOT NULL ORDER BY customer_key", [.integer(appKey)], connection)
    }

    /// A customer, after all merges, with those who were merged into it, by key.
    ///
    /// - Parameter limit: the maximum number of keys, where only some of them are shown.
    func family(of customer: CustomerRow, limit: Int = .max) throws(LedgerStorageError) -> [Int64] {
        var keys = [try surviving(customer).key]
        var next = 0
        while next < keys.count, keys.count < limit {
            let merged = try CustomerRow.all(
                "WHERE merged_into = ?1 ORDER BY customer_key LIMIT ?2",
                [.integer(keys[next]), .integer(Int64(limit - keys.count))], connection)
            keys += merged.map(\.key)
            next += 1
        }
        return keys
    }

    /// Deletes the names and the token of a customer.
    func erase(_ key: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "customers",
            "UPDATE customers SET name = NULL, token = NULL, folded = NULL WHERE customer_key = ?1", [.integer(key)])
    }

    func insert(_ row: CustomerRow) throws(LedgerStorageError) -> CustomerRow {
        var row = row
        row.key = try CustomerRow.table.insert(row.values, connection)
        return row
    }

    func merge(_ key: Int64, into target: Int64, entry: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "customers",
            "UPDATE customers SET merged_into = ?1, merge_entry = ?2 WHERE customer_key = ?3",
            [.integer(target), .integer(entry), .integer(key)])
    }

    func setToken(_ token: UUID, of key: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "customers",
            "UPDATE customers SET token = ?1 WHERE customer_key = ?2", [.id(token), .integer(key)])
    }
}
