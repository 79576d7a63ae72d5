import Foundation
import PurchaseVerification

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
    /// The maximum number of customers that were merged into one whose rows a list has.
    static let listedFamily = 64
    /// The maximum length of a chain of merges; no longer chain is created, so no reader can hang.
    static let mergeDepth = 64

    let connection: any LedgerConnection

    /// The customer with a reference. It scans the table; only replays and erasures call it.
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

    /// The customers whose rows a list of a customer has.
    ///
    /// - Throws: `customer_unknown`.
    func family(_ name: String, appKey: Int64) throws -> (named: CustomerRow, keys: [Int64]) {
        guard let row = try named(name, appKey: appKey) else {
            throw LedgerRefusal(.customerUnknown, expected: name)
        }
        return (row, try family(of: row, limit: Self.listedFamily))
    }

    /// Deletes the names and the token of a customer.
    func erase(_ key: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "customers",
            "UPDATE customers SET name = NULL, token = NULL, folded = NULL, guest = 0 WHERE customer_key = ?1",
            [.integer(key)])
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

    /// Gives a customer the mark of a guest, or takes it.
    func setGuest(_ isGuest: Bool, of key: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "customers",
            "UPDATE customers SET guest = ?1 WHERE customer_key = ?2", [.flag(isGuest), .integer(key)])
    }

    func setToken(_ token: UUID, of key: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "customers",
            "UPDATE customers SET token = ?1 WHERE customer_key = ?2", [.id(token), .integer(key)])
    }
}

/// A customer of an app.
struct CustomerRow: TableRow {
    static let table = Table(
        "customers", key: "customer_key",
        columns: ["app_key", "reference", "name", "merged_into", "merge_entry", "token", "folded", "guest"])

    var key: Int64
    var appKey: Int64
    /// The random reference in the journal's leaves.
    var reference: UUID
    /// The outside name; `nil` after an erasure.
    var name: String?
    /// The customer that this one was merged into.
    var mergedInto: Int64?
    /// The journal entry of the merge.
    var mergeEntry: Int64?
    /// The current account token.
    var token: UUID?
    /// The folded name, by which a search finds it; `nil` if that is the name itself, and after an erasure.
    var folded: String?
    /// Whether the customer is a guest, whom only an app knows (docs/ledger.md, "Guests").
    var isGuest = false

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        appKey = try reader.integer()
        reference = try reader.id()
        name = try reader.optionalText()
        mergedInto = try reader.optionalInteger()
        mergeEntry = try reader.optionalInteger()
        token = try reader.optionalID()
        folded = try reader.optionalText()
        isGuest = try reader.flag()
    }

    init(appKey: Int64, reference: UUID, name: String?) {
        (key, self.appKey, self.reference, self.name) = (0, appKey, reference, name)
        folded = name.map(\.folded).flatMap { $0.isSame(as: name) ? nil : $0 }
    }

    /// The name of this customer, if another name was merged into it.
    func survivor(of named: String) -> String? { named.isSame(as: name) ? nil : name }

    /// The lock of all data of the customer.
    var lock: LedgerLock { name.map { .customer($0) } ?? .customer(reference: reference) }

    var values: [LedgerValue] {
        [
            .integer(appKey), .id(reference), .text(name), .integer(mergedInto), .integer(mergeEntry), .id(token),
            .text(folded), .flag(isGuest),
        ]
    }
}

extension String {
    /// The text without case and accents. Unicode does not change the folding of a character that it has assigned, so
    /// what is stored stays comparable.
    var folded: String {
        utf8.allSatisfy { $0 < 0x80 }
            ? lowercased() : folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    }
}

/// The customer of each account token. A token belongs to one customer forever; a customer's earlier tokens remain
/// assigned.
struct AccountTokensTable {
    let connection: any LedgerConnection

    // A customer who was just created has no token, so changes of customers do not matter.
    static let assignment = ReadShape(
        """
        SELECT account_tokens.customer_key, merged_into FROM account_tokens
        JOIN customers ON customers.customer_key = account_tokens.customer_key
        WHERE account_tokens.app_key = ?1 AND account_tokens.token = ?2
        """, of: ["account_tokens"], [.value, .value])

    /// The customer to whom a token was assigned, and whether they were merged into another later.
    func assignment(
        of token: UUID, appKey: Int64
    ) throws(LedgerStorageError) -> (customer: Int64, isMerged: Bool)? {
        let rows = try connection.rows(
            Self.assignment, [.integer(appKey), .id(token)])
        guard var reader = rows.first?.reader else { return nil }
        return (try reader.integer(), try reader.optionalInteger() != nil)
    }

    /// The customer of a token, after all merges.
    func customer(of token: UUID, appKey: Int64) throws(LedgerStorageError) -> Int64? {
        guard let assignment = try assignment(of: token, appKey: appKey) else { return nil }
        guard assignment.isMerged else { return assignment.customer }
        let customers = CustomersTable(connection: connection)
        return try customers.surviving(try customers.row(assignment.customer)).key
    }

    /// The tokens of a customer. It scans the table; only an erasure calls it.
    func tokens(of customer: Int64, appKey: Int64) throws(LedgerStorageError) -> [UUID] {
        var tokens: [UUID] = []
        for row in try connection.rows(
            "SELECT token FROM account_tokens WHERE app_key = ?1 AND customer_key = ?2 ORDER BY token",
            [.integer(appKey), .integer(customer)], of: ["account_tokens"])
        {
            var reader = row.reader
            tokens.append(try reader.id())
        }
        return tokens
    }

    func delete(_ token: UUID, appKey: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "account_tokens",
            "DELETE FROM account_tokens WHERE app_key = ?1 AND token = ?2", [.integer(appKey), .id(token)])
    }

    func insert(_ token: UUID, appKey: Int64, customer: Int64, entry: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "account_tokens",
            "INSERT INTO account_tokens (app_key, token, customer_key, entry_key) VALUES (?1, ?2, ?3, ?4)",
            [.integer(appKey), .id(token), .integer(customer), .integer(entry)])
    }
}

/// The customers whose sandbox purchases count.
struct TestersTable {
    /// The row of the customer with a name.
    static let ofName = ReadShape(
        "SELECT 1 FROM testers WHERE app_key = ?1 AND customer_key = ?2",
        of: ReadScope("testers", by: "app_key", "customer_key"), [.value, .column(0, of: CustomersTable.byName)])

    let connection: any LedgerConnection

    func contains(_ customer: Int64, appKey: Int64) throws(LedgerStorageError) -> Bool {
        !(try connection.rows(Self.ofName, [.integer(appKey), .integer(customer)]).isEmpty)
    }

    /// - Returns: whether the customer was not a tester before.
    func insert(_ customer: Int64, appKey: Int64, entry: Int64) throws(LedgerStorageError) -> Bool {
        try connection.execute(
            """
            INSERT INTO testers (app_key, customer_key, entry_key) VALUES (?1, ?2, ?3)
            ON CONFLICT (app_key, customer_key) DO NOTHING
            """, [.integer(appKey), .integer(customer), .integer(entry)]) == 1
    }

    /// Makes the customer that a tester was merged into a tester.
    func move(from customer: Int64, to target: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "testers",
            """
            INSERT INTO testers (app_key, customer_key, entry_key)
            SELECT app_key, ?2, entry_key FROM testers
            WHERE app_key = (SELECT app_key FROM customers WHERE customer_key = ?1) AND customer_key = ?1
            ON CONFLICT (app_key, customer_key) DO NOTHING
            """, [.integer(customer), .integer(target)])
    }

    /// - Returns: whether the customer was a tester.
    func delete(_ customer: Int64, appKey: Int64) throws(LedgerStorageError) -> Bool {
        try connection.execute(
            "DELETE FROM testers WHERE app_key = ?1 AND customer_key = ?2", [.integer(appKey), .integer(customer)]) == 1
    }
}
