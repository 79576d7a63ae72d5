import PurchaseVerification

import struct Foundation.UUID

struct TransactionsTable {
    /// A transaction by environment, number and second; the first column is the key.
    static let byKey = ReadShape(
        TransactionRow.table.select("WHERE environment = ?1 AND transaction_id = ?2 AND xcode_second = ?3"),
        of: ReadScope(TransactionRow.table.name, by: "environment", "transaction_id", "xcode_second"),
        [.value, .value, .value], numbering: TransactionRow.table.numbering)
    /// The position of the owner among the columns.
    static let ownerColumn = 12
    static let ofOriginal = ReadShape(
        TransactionRow.table.select("WHERE original_key = ?1 ORDER BY transaction_key"),
        of: ReadScope(TransactionRow.table.name, by: "original_key"), [.column(0, of: OriginalsTable.byNumber)])

    /// The numbers of the originals of which a customer owns a pass of a product, in an environment.
    static let originalsOfPasses = """
        SELECT original_key FROM transactions
        WHERE kind = 'non_renewing' AND owner_key = ?1 AND product_key = ?2 AND environment = ?3
        """
    /// What names the passes of the customer with a name.
    static let passesOfName: [ReadShape.Parameter] = [
        .column(0, of: CustomersTable.byName), .column(0, of: ProductsTable.byID), .value,
    ]
    /// What names the passes of the owner of an original.
    static let passesOfOwner: [ReadShape.Parameter] = [
        .column(ownerColumn, of: ofOriginal), .column(0, of: ProductsTable.byID), .value,
    ]
    static let ofPassesOfName = ReadShape(
        TransactionRow.table.select("WHERE original_key IN (\(originalsOfPasses))"),
        of: [TransactionRow.table.name], passesOfName)
    static let ofPassesOfOwner = ReadShape(ofPassesOfName.sql, of: ofPassesOfName.scope, passesOfOwner)

    let connection: any LedgerConnection

    func row(_ key: Int64) throws(LedgerStorageError) -> TransactionRow? {
        try TransactionRow.first("WHERE transaction_key = ?1", [.integer(key)], connection)
    }

    func row(_ key: TransactionKey, environment: Int64) throws(LedgerStorageError) -> TransactionRow? {
        try TransactionRow.first(
            Self.byKey,
            [.integer(environment), .text(key.transactionID.string), .integer(key.second)], connection)
    }

    /// The transactions with an id in all environments.
    func rows(id: String) throws(LedgerStorageError) -> [TransactionRow] {
        try TransactionRow.query(
            TransactionRow.table.select(
                "WHERE environment IN (SELECT environment_key FROM environments) AND transaction_id = ?1"),
            [.text(id)], connection)
    }

    /// The transactions whose ids begin with a text, in each environment.
    func beginning(with text: String, limit: Int64) throws(LedgerStorageError) -> [TransactionRow] {
        var found: [TransactionRow] = []
        for row in try connection.rows("SELECT environment_key FROM environments ORDER BY environment_key", []) {
            found += try TransactionRow.all(
                "WHERE environment = ?1 AND transaction_id >= ?2 AND transaction_id < ?3 ORDER BY transaction_id LIMIT ?4",
                row.values + [.text(text), .text(text + "\u{10FFFF}"), .integer(limit)], connection)
        }
        return found
    }

    /// The transactions of an original, in the order in which they were first seen.
    func rows(originalKey: Int64) throws(LedgerStorageError) -> [TransactionRow] {
        try TransactionRow.query(Self.ofOriginal, [.integer(originalKey)], connection)
    }

    /// The transactions of some originals, in any order.
    func rows(ofOriginals keys: [Int64]) throws(LedgerStorageError) -> [TransactionRow] {
        try TransactionRow.all(
            "WHERE original_key IN (\(LedgerValue.places(keys.count)))",
            keys.map { .integer($0) }, connection)
    }

    /// The first transactions of an original, in the order in which they were first seen.
    func rows(originalKey: Int64, limit: Int) throws(LedgerStorageError) -> [TransactionRow] {
        try TransactionRow.query(
            "\(Self.ofOriginal.sql) LIMIT ?2", of: Self.ofOriginal.scope,
            [.integer(originalKey), .integer(Int64(limit))], connection)
    }

    /// The transactions of the originals of which a customer owns a pass of a product.
    ///
    /// - Parameter addsChanges: whether the caller adds the changes of the write.
    func ofPasses(
        _ customer: Int64, product: Int64, environment: Int64, addsChanges: Bool
    ) throws(LedgerStorageError) -> [TransactionRow] {
        try TransactionRow.query(
            Self.ofPassesOfName.sql, of: addsChanges ? [] : Self.ofPassesOfName.scope,
            [.integer(customer), .integer(product), .integer(environment)], connection)
    }

    /// The passes of a customer, which form a chain.
    func passes(
        of customer: Int64, product: Int64, environment: Int64
    ) throws(LedgerStorageError) -> [TransactionRow] {
        try TransactionRow.all(
            """
            WHERE kind = 'non_renewing' AND owner_key = ?1 AND product_key = ?2 AND environment = ?3
            ORDER BY transaction_key
            """, [.integer(customer), .integer(product), .integer(environment)], connection)
    }

    /// The purchases of a customer, the one last seen first.
    func order(of customer: Int64) -> ListOrder<TransactionRow, Int64> {
        ListOrder(connection, [ListIndex("owner_key = ?1", customer)], by: ["transaction_key"], cursor: \.key)
    }

    /// The originals of which a customer owns periods, or transactions of a product whose kind is not known yet.
    func subscriptions(of customer: Int64) throws(LedgerStorageError) -> [Int64] {
        try connection.integers(
            """
            SELECT DISTINCT original_key FROM transactions
            WHERE owner_key = ?1 AND (kind IS NULL OR kind = 'auto_renewable') ORDER BY original_key
            """, [.integer(customer)], of: ["transactions"])
    }

    /// The originals of which a customer owns transactions.
    func originals(of customer: Int64) throws(LedgerStorageError) -> [Int64] {
        try connection.integers(
            "SELECT DISTINCT original_key FROM transactions WHERE owner_key = ?1 ORDER BY original_key",
            [.integer(customer)], of: ["transactions"])
    }

    /// The originals with an account token whose transactions have no owner by that token yet.
    func originals(token: UUID, appKey: Int64) throws(LedgerStorageError) -> [Int64] {
        try connection.integers(
            """
            SELECT DISTINCT transactions.original_key FROM transactions
            JOIN originals ON originals.original_key = transactions.original_key
            WHERE token = ?1 AND app_key = ?2 ORDER BY transactions.original_key
            """, [.id(token), .integer(appKey)])
    }

    /// The originals of a product whose kind is not known, because no settings have agreed with the facts yet.
    ///
    /// - Parameter limit: the maximum number.
    func originalsWithoutKind(
        product: Int64, after original: Int64 = 0, limit: Int64 = .max
    ) throws(LedgerStorageError) -> [Int64] {
        try connection.integers(
            """
            SELECT DISTINCT original_key FROM transactions
            WHERE kind IS NULL AND product_key = ?1 AND original_key > ?2 ORDER BY original_key LIMIT ?3
            """, [.integer(product), .integer(original), .integer(limit)], of: ["transactions"])
    }

    /// The originals of which an owned transaction states a download of the app.
    func originals(
        appTransactionID id: String, environment: Int64, appKey: Int64
    ) throws(LedgerStorageError) -> [Int64] {
        try connection.integers(
            """
            SELECT DISTINCT transactions.original_key FROM transactions
            JOIN originals ON originals.original_key = transactions.original_key
            WHERE transactions.environment = ?1 AND app_transaction_id = ?2 AND app_key = ?3 AND owner_key IS NOT NULL
            ORDER BY transactions.original_key
            """, [.integer(environment), .text(id), .integer(appKey)])
    }

    /// The customers, before merges, who own a transaction of an app, or purchases of a download of it.
    ///
    /// - Parameter id: the id of the transaction, or of the download (Apple, "appTransactionId").
    func owners(of id: String, appKey: Int64) throws(LedgerStorageError) -> [Int64] {
        let selections = ["transaction_id", "app_transaction_id"].map { column in
            """
            SELECT owner_key FROM transactions JOIN originals ON originals.original_key = transactions.original_key
            WHERE transactions.environment IN (SELECT environment_key FROM environments) AND \(column) = ?1
            AND app_key = ?2 AND owner_key IS NOT NULL
            """
        }
        return try connection.integers(selections.joined(separator: " UNION "), [.text(id), .integer(appKey)])
    }

    /// The transactions that carry an account token.
    func rows(token: UUID) throws(LedgerStorageError) -> [TransactionRow] {
        try TransactionRow.all("WHERE token = ?1 ORDER BY transaction_key", [.id(token)], connection)
    }

    /// Puts the reference of an erased customer in the place of their token.
    func replace(_ token: UUID, by reference: UUID, appKey: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "transactions",
            """
            UPDATE transactions SET token = ?2 WHERE token = ?1
            AND original_key IN (SELECT original_key FROM originals WHERE app_key = ?3)
            """, [.id(token), .id(reference), .integer(appKey)])
    }

    /// Replaces all data of a transaction.
    ///
    /// - Parameters:
    ///   - facts: the remaining facts.
    ///   - time: the time of the erasure.
    func erase(_ key: Int64, facts: ObservedTransaction, at time: Timestamp) throws(LedgerStorageError) {
        try connection.send(
            to: "transactions",
            """
            UPDATE transactions SET product_key = 0, facts = ?2, evidence_key = 0, known_at = ?3, kind = ?4,
            duration = NULL, token = ?5, app_transaction_id = NULL WHERE transaction_key = ?1
            """,
            [
                .integer(key), .blob(facts.encoded), .time(time), .text(facts.kind?.rawValue),
                .id(facts.accountToken?.uuid),
            ])
    }

    func insert(_ row: TransactionRow) throws(LedgerStorageError) -> Int64 {
        try TransactionRow.table.insert(row.values, connection)
    }

    /// Writes what can change in a row: facts, owner, and the columns derived from them.
    func update(_ row: TransactionRow) throws(LedgerStorageError) {
        try connection.send(
            to: "transactions",
            """
            UPDATE transactions SET original_key = ?2, product_key = ?3, facts = ?4, evidence_key = ?5, kind = ?6,
            duration = ?7, token = ?8, owner_key = ?9, owner_reason = ?10, app_transaction_id = ?11
            WHERE transaction_key = ?1
            """,
            [
                .integer(row.key), .integer(row.originalKey), .integer(row.productKey), .blob(row.facts),
                .integer(row.evidenceKey), .text(row.kind?.rawValue), .text(row.duration?.description),
                .id(row.token), .integer(row.ownerKey), .text(row.ownerReason), .text(row.appTransactionID),
            ])
    }
}

/// The facts of one transaction, and its owner according to the ownership rules.
struct TransactionRow: TableRow {
    static let table = Table(
        "transactions", key: "transaction_key",
        columns: [
            "original_key", "environment", "transaction_id", "xcode_second", "product_key", "facts", "evidence_key",
            "known_at", "kind", "duration", "token", "owner_key", "owner_reason", "app_transaction_id",
        ])

    var key: Int64
    var originalKey: Int64
    var environment: Int64
    var transactionID: String
    var xcodeSecond: Int64
    var productKey: Int64
    /// The facts in their stored form.
    var facts: [UInt8]
    /// The newest evidence that changed the facts.
    var evidenceKey: Int64
    /// When the transaction was first observed.
    var knownAt: Timestamp
    /// The kind of product in the first settings that agree with the facts; `nil` until then. Such a purchase gives
    /// nothing.
    var kind: ProductKind?
    /// The duration of a non-renewing subscription in the same settings.
    var duration: PassDuration?
    /// The account token of the facts. The customer's reference takes its place when the customer is erased, in the
    /// transactions that are known then.
    var token: UUID?
    var ownerKey: Int64?
    /// The rule that gave it its owner.
    var ownerReason: String?
    /// The download of the app that the facts state.
    var appTransactionID: String?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        originalKey = try reader.integer()
        environment = try reader.integer()
        transactionID = try reader.text()
        xcodeSecond = try reader.integer()
        productKey = try reader.integer()
        facts = try reader.blob()
        evidenceKey = try reader.integer()
        knownAt = try reader.time()
        kind = try reader.optionalNamed(ProductKind.self)
        duration = try reader.optionalText().flatMap { PassDuration($0) }
        token = try reader.optionalID()
        ownerKey = try reader.optionalInteger()
        ownerReason = try reader.optionalText()
        appTransactionID = try reader.optionalText()
    }

    init(
        originalKey: Int64, environment: Int64, key: TransactionKey, productKey: Int64, facts: [UInt8],
        evidenceKey: Int64, knownAt: Timestamp
    ) {
        self.key = 0
        self.originalKey = originalKey
        self.environment = environment
        transactionID = key.transactionID.string
        xcodeSecond = key.second
        self.productKey = productKey
        self.facts = facts
        self.evidenceKey = evidenceKey
        self.knownAt = knownAt
    }

    var values: [LedgerValue] {
        [
            .integer(originalKey), .integer(environment), .text(transactionID), .integer(xcodeSecond),
            .integer(productKey), .blob(facts), .integer(evidenceKey), .time(knownAt), .text(kind?.rawValue),
            .text(duration?.description), .id(token), .integer(ownerKey), .text(ownerReason),
            .text(appTransactionID),
        ]
    }

    /// Whether its owner was erased: it stays claimed, and its data is gone.
    var isErased: Bool { productKey == 0 }

    /// The facts, decoded.
    ///
    /// - Parameter environment: the environment of the row's number.
    func observed(in environment: AppStoreEnvironment) throws(LedgerStorageError) -> ObservedTransaction {
        let key = TransactionKey(
            environment: environment, transactionID: ExactText(transactionID), second: xcodeSecond)
        do throws(FactsDecodingError) {
            return try ObservedTransaction(key: key, encoded: facts)
        } catch {
            throw LedgerStorageError(error, of: "transaction \(transactionID)")
        }
    }
}
