/// Compares the indexes of PostgreSQL with their tables: with the extension amcheck if the database has it, otherwise
/// with plain queries.
///
/// The queries read each table without an index, by the keys in the index, and by the index in its order, all in one
/// state of the database. If the first two have the same keys, and the rows come in order in the third, then each index
/// entry refers to the row with its key. Each query needs the memory of one row.
struct PostgreSQLIndexAudit {
    let database: any LedgerDatabase
    /// Keys are summed by hashes under a random number, so nobody can prepare keys whose hashes cancel each other.
    private let seed = Int64.random(in: .min ... .max)

    init(database: any LedgerDatabase) { self.database = database }

    /// A B-tree of the ledger's schema.
    struct Index: Sendable {
        let number: Int64
        let name: String
        let table: String
        /// The columns of the key, separated by commas.
        let columns: String
        /// The condition of a partial index.
        let condition: String?
    }

    func differences() async throws -> [String] {
        let (indexes, checkFunction) = try await database.read(.lists) { connection in
            (try Self.indexes(connection), try Self.checkFunction(connection))
        }
        var differences: [String] = []
        for index in indexes {
            do {
                let seed = seed
                let found = try await database.read(.lists) { connection in
                    for sql in PostgreSQLDialect().unlimitedTime { try connection.execute(sql, []) }
                    if let checkFunction { return try Self.check(index, with: checkFunction, connection) }
                    return try Self.compare(index, seed, connection)
                }
                if let found { differences.append("\(index.name) of \(index.table): \(found)") }
            } catch let error as LedgerStorageError where error.kind == .corrupt || error.kind == .other {
                differences.append("\(index.name) of \(index.table): \(error.detail)")
            }
        }
        return differences
    }

    /// The indexes of the ledger's schema. Others than B-trees of columns are differences of the schema.
    static func indexes(_ connection: any LedgerConnection) throws(LedgerStorageError) -> [Index] {
        let rows = try connection.rows(
            """
            WITH \(PostgreSQLDialect.home)
            SELECT indexrelid::bigint, named.relname, quote_ident(nspname) || '.' || quote_ident(owner.relname),
            string_agg(quote_ident(attname), ', ' ORDER BY place), pg_get_expr(indpred, indrelid)
            FROM pg_index JOIN pg_class AS named ON named.oid = indexrelid JOIN pg_class AS owner ON owner.oid = indrelid
            JOIN home ON home.oid = owner.relnamespace JOIN pg_am ON pg_am.oid = named.relam
            CROSS JOIN unnest(indkey::smallint[]) WITH ORDINALITY AS keys (attribute, place)
            JOIN pg_attribute ON attrelid = indrelid AND attnum = attribute
            WHERE amname = 'btree' AND indexprs IS NULL AND owner.relkind = 'r' AND indisvalid
            GROUP BY indexrelid, named.relname, nspname, owner.relname, indpred, indrelid ORDER BY named.relname
            """, [])
        var indexes: [Index] = []
        for row in rows {
            var reader = row.reader
            indexes.append(
                Index(
                    number: try reader.integer(), name: try reader.text(), table: try reader.text(),
                    columns: try reader.text(), condition: try reader.optionalText()))
        }
        return indexes
    }

    /// The name of amcheck's function; `nil` without the extension, and if the role may not call it.
    private static func checkFunction(_ connection: any LedgerConnection) throws(LedgerStorageError) -> String? {
        let rows = try connection.rows(
            """
            SELECT quote_ident(nspname) || '.bt_index_check' FROM pg_extension
            JOIN pg_namespace ON pg_namespace.oid = extnamespace JOIN pg_proc ON pronamespace = extnamespace
            WHERE extname = 'amcheck' AND proname = 'bt_index_check' AND pronargs = 2
            AND has_function_privilege(pg_proc.oid, 'EXECUTE')
            """, [])
        guard var reader = rows.first?.reader else { return nil }
        return try reader.text()
    }

    /// The function returns nothing, or an error.
    private static func check(
        _ index: Index, with function: String, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> String? {
        _ = try connection.rows(
            """
            SELECT count(*) FROM (SELECT \(function)(CAST(CAST(?1 AS oid) AS regclass), true) OFFSET 0) AS checked
            """, [.integer(index.number)])
        return nil
    }

    /// Three readings of a table.
    private static func compare(
        _ index: Index, _ seed: Int64, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> String? {
        let plan = { (setting: String, isOn: Bool) throws(LedgerStorageError) in
            _ = try connection.execute("SET LOCAL enable_\(setting) = \(isOn ? "on" : "off")", [])
        }
        for setting in ["bitmapscan", "indexscan", "indexonlyscan"] { try plan(setting, false) }
        let rows = try sum(tableQuery(index), seed, connection)
        for setting in ["seqscan", "sort", "incremental_sort"] { try plan(setting, false) }
        for setting in ["indexscan", "indexonlyscan"] { try plan(setting, true) }
        let keys = try sum(keysQuery(index), seed, connection)
        try plan("indexonlyscan", false)
        let ordered = try sum(orderedQuery(index), seed, connection)
        guard rows.count == keys.count, rows.count == ordered.count else {
            return "it finds \(keys.count) rows, and the table has \(rows.count)"
        }
        guard rows.sum == keys.sum, rows.sum == ordered.sum else {
            return "it has other keys than the rows of the table"
        }
        return ordered.isOrdered ? nil : "it finds rows by the keys of other rows"
    }

    static func tableQuery(_ index: Index) -> String {
        "SELECT count(*), CAST(sum(\(hash(index))) AS text), true FROM \(index.source)"
    }

    /// By the index alone, which returns the keys that it has.
    static func keysQuery(_ index: Index) -> String {
        """
        SELECT count(*), CAST(sum(\(hash(index))) AS text), true
        FROM (SELECT \(index.columns) FROM \(index.source) ORDER BY \(index.columns) OFFSET 0) AS keys
        """
    }

    /// By the index, and then the row.
    static func orderedQuery(_ index: Index) -> String {
        """
        SELECT count(*), CAST(sum(hash) AS text), coalesce(bool_and(\(index.isOrdered)), true) FROM (
        SELECT *, \(hash(index)) AS hash, \(index.former) FROM (
        SELECT \(index.columns) FROM \(index.source) ORDER BY \(index.columns) OFFSET 0) AS keys) AS followed
        """
    }

    private static func hash(_ index: Index) -> String {
        "hashtextextended(CAST(ROW(\(index.columns)) AS text), ?1)"
    }

    private static func sum(
        _ sql: String, _ seed: Int64, _ connection: any LedgerConnection
    ) throws(LedgerStorageError) -> (count: Int64, sum: String?, isOrdered: Bool) {
        guard var reader = try connection.rows(sql, [.integer(seed)]).first?.reader else {
            throw LedgerStorageError(.other, "a count has no row")
        }
        return (try reader.integer(), try reader.optionalText(), try reader.integer() != 0)
    }
}

extension PostgreSQLIndexAudit.Index {
    var source: String { table + (condition.map { " WHERE \($0)" } ?? "") }

    private var names: [String] { columns.split(separator: ", ").map { String($0) } }

    /// The key of the row before each row.
    var former: String {
        names.indices.map { "lag(\(names[$0])) OVER () AS former_\($0)" }.joined(separator: ", ")
    }

    /// Whether a row's key is not below the former one; null if one of them is null.
    var isOrdered: String {
        "ROW(\(columns)) >= ROW(\(names.indices.map { "former_\($0)" }.joined(separator: ", ")))"
    }
}
