import PurchaseVerification

import struct Foundation.UUID

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
