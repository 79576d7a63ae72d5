import CPostgreSQL
import Foundation
import SQLiteFloor
import Synchronization

/// The lower bound for the cost of the same purchases with this engine and one statement for each row: the rows that
/// the ledger wrote are read back and written again into the same tables and indexes of an empty database, by prepared
/// statements in libpq's pipeline mode, 32 purchases and one round trip a transaction, over four connections. It reads
/// the rows that a decision needs: customer, transaction, original and product. Nothing is verified, hashed,
/// compressed, locked or decided.
struct PostgreSQLBareLoop {
    let purchasesPerTransaction: Int
    let connections: Int

    struct Result {
        let perSecond: Double
        let processorTime: Double
        let statements: Double
    }

    private struct Purchase: Sendable {
        var rows: [(table: Int, fields: [Field])] = []
        var reads: [[Field]] = []
    }

    private static let tables = [
        "evidence", "customers", "originals", "transactions", "lots", "entitlements", "journal",
        "ownership_acts", "events",
    ]

    private static let reads = [
        "SELECT * FROM customers WHERE app_key = $1 AND name = $2",
        "SELECT * FROM transactions WHERE environment = $1 AND transaction_id = $2 AND xcode_second = $3",
        "SELECT * FROM originals WHERE environment = $1 AND original_id = $2 AND xcode_second = $3",
        "SELECT product_key FROM products WHERE app_key = $1 AND product_id = $2",
    ]

    /// Writes the rows of a ledger into an empty database with the same schema.
    func run(rowsOf ledger: String, in url: String) throws -> Result {
        let source = try PostgreSQLClient(ledger)
        let (purchases, types) = try purchases(source)
        let statements = purchases.reduce(0) { $0 + $1.rows.count + $1.reads.count }
        let progress = Progress()
        let group = DispatchGroup()
        let opened = try (0..<connections).map { _ in Connection(client: try prepared(url, types)) }
        let (start, time) = (ContinuousClock.now, processTime())
        for connection in opened {
            group.enter()
            Thread {
                do {
                    while true {
                        let first = progress.take(purchasesPerTransaction)
                        guard first < purchases.count else { break }
                        let part = purchases[first..<min(first + purchasesPerTransaction, purchases.count)]
                        try transaction(part, connection.client)
                    }
                } catch {
                    progress.failures.withLock { $0.append("\(error)") }
                }
                group.leave()
            }.start()
        }
        group.wait()
        let seconds = (ContinuousClock.now - start).seconds
        if let failure = progress.failures.withLock({ $0.first }) { throw BenchmarkError(failure) }
        let count = Double(purchases.count)
        return Result(
            perSecond: count / seconds, processorTime: (processTime() - time) / count,
            statements: Double(statements) / count)
    }

    private final class Progress: Sendable {
        let failures = Mutex<[String]>([])
        private let next = Mutex(0)

        /// The position of the next purchases.
        func take(_ count: Int) -> Int {
            next.withLock { next in
                defer { next += count }
                return next
            }
        }
    }

    /// Unchecked because only one thread uses it at a time.
    private struct Connection: @unchecked Sendable {
        let client: PostgreSQLClient
    }

    private func prepared(_ url: String, _ types: [[Oid]]) throws -> PostgreSQLClient {
        let client = try PostgreSQLClient(url)
        try client.execute("SET plan_cache_mode = force_generic_plan")
        for (table, name) in Self.tables.enumerated() {
            let places = (1...types[table].count).map { "$\($0)" }.joined(separator: ", ")
            let more =
                name == "entitlements"
                ? """
                 ON CONFLICT (customer_key, product_key, environment, ground)
                DO UPDATE SET balance = entitlements.balance + excluded.balance
                """ : ""
            let sql = "INSERT INTO \(name) VALUES (\(places))\(more)"
            let result = PQprepare(client.connection, "w\(table)", sql, Int32(types[table].count), types[table])
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw client.failure(sql) }
        }
        for (read, sql) in Self.reads.enumerated() {
            let result = PQprepare(client.connection, "r\(read)", sql, 0, nil)
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw client.failure(sql) }
        }
        guard PQenterPipelineMode(client.connection) == 1 else { throw client.failure("pipeline mode") }
        return client
    }

    /// One transaction in one round trip.
    private func transaction(_ purchases: ArraySlice<Purchase>, _ client: PostgreSQLClient) throws {
        let connection = client.connection
        var count = 0
        func plain(_ sql: String) {
            PQsendQueryParams(connection, sql, 0, nil, nil, nil, nil, 1)
            count += 1
        }
        func send(_ name: String, _ fields: [Field]) throws {
            var bytes: [CChar] = []
            var places: [Int?] = []
            for field in fields {
                places.append(field == nil ? nil : bytes.count)
                bytes += field ?? []
            }
            bytes.append(0)
            let isSent = bytes.withUnsafeBufferPointer { buffer in
                PQsendQueryPrepared(
                    connection, name, Int32(fields.count),
                    places.map { $0.flatMap { place in buffer.baseAddress.map { $0 + place } } },
                    fields.map { Int32($0?.count ?? 0) }, [Int32](repeating: 1, count: fields.count), 1)
            }
            guard isSent == 1 else { throw client.failure(name) }
            count += 1
        }
        plain("BEGIN")
        for purchase in purchases {
            for (read, fields) in purchase.reads.enumerated() { try send("r\(read)", fields) }
            for (table, fields) in purchase.rows { try send("w\(table)", fields) }
        }
        plain("COMMIT")
        PQpipelineSync(connection)
        for _ in 0..<count {
            while let result = PQgetResult(connection) {
                let status = PQresultStatus(result)
                PQclear(result)
                guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else { throw client.failure("bare loop") }
            }
        }
        while true {
            guard let result = PQgetResult(connection) else { continue }
            let status = PQresultStatus(result)
            PQclear(result)
            if status == PGRES_PIPELINE_SYNC { return }
        }
    }

    /// The rows of each purchase, in the order in which the ledger writes them.
    private func purchases(_ source: PostgreSQLClient) throws -> ([Purchase], [[Oid]]) {
        var types: [[Oid]] = []
        for table in Self.tables { types.append(try source.rows("SELECT * FROM \(table) LIMIT 0").types) }
        func table(_ sql: String, key: Int) throws -> [[CChar]: [Field]] {
            var rows: [[CChar]: [Field]] = [:]
            for row in try source.rows(sql).rows { if let key = row[key] { rows[key] = row } }
            return rows
        }
        let entries = try source.rows("SELECT * FROM journal WHERE evidence_key IS NOT NULL ORDER BY entry_key").rows
        let evidence = try table("SELECT * FROM evidence", key: 0)
        let customers = try table("SELECT * FROM customers", key: 0)
        let originals = try table("SELECT * FROM originals", key: 0)
        let transactions = try table("SELECT * FROM transactions", key: 0)
        let lots = try table("SELECT * FROM lots", key: 0)
        let acts = try table("SELECT * FROM ownership_acts", key: 1)
        let events = try table("SELECT * FROM events WHERE customer_key IS NOT NULL", key: 2)
        let entitlements = try table("SELECT * FROM entitlements", key: 0)
        let products = try table("SELECT * FROM products", key: 0)
        var known: Set<[CChar]> = []
        let purchases = try entries.map { entry -> Purchase in
            guard let key = entry[0], let transaction = transactions[entry[8] ?? []],
                let original = originals[transaction[1] ?? []], let customerKey = entry[6],
                let customer = customers[customerKey], let evidence = evidence[entry[9] ?? []],
                let lot = lots[original[0] ?? []], let act = acts[key], let event = events[key],
                let product = products[transaction[5] ?? []], var entitlement = entitlements[customerKey]
            else { throw BenchmarkError("a purchase of the ledger has not the rows that the bare loop writes") }
            entitlement[5] = [0, 0, 0, 0, 0, 0, 0, 1]
            var purchase = Purchase()
            purchase.rows.append((0, evidence))
            if known.insert(customerKey).inserted { purchase.rows.append((1, customer)) }
            purchase.rows += [
                (2, original), (3, transaction), (4, lot), (5, entitlement), (6, entry), (7, act), (8, event),
            ]
            purchase.reads = [
                [customer[1], customer[3]], [transaction[2], transaction[3], transaction[4]],
                [original[1], original[2], original[3]], [product[1], product[2]],
            ]
            return purchase
        }
        return (purchases, types)
    }
}

/// The processor time of this process, in seconds.
func processTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// A connection for the bare loop, through libpq alone.
final class PostgreSQLClient {
    let connection: OpaquePointer

    init(_ url: String) throws {
        guard let connection = PQconnectdb(url), PQstatus(connection) == CONNECTION_OK else {
            throw BenchmarkError("PostgreSQL at \(url) cannot be reached")
        }
        self.connection = connection
    }

    deinit { PQfinish(connection) }

    func execute(_ sql: String) throws {
        let result = PQexec(connection, sql)
        defer { PQclear(result) }
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else { throw failure(sql) }
    }

    /// The rows of a table as PostgreSQL sends them, and the types of its columns.
    func rows(_ sql: String) throws -> (rows: [[Field]], types: [Oid]) {
        let result = PQexecParams(connection, sql, 0, nil, nil, nil, nil, 1)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_TUPLES_OK else { throw failure(sql) }
        let columns = PQnfields(result)
        let rows = (0..<PQntuples(result)).map { row in
            (0..<columns).map { column -> Field in
                guard PQgetisnull(result, row, column) == 0, let value = PQgetvalue(result, row, column) else {
                    return nil
                }
                return Array(UnsafeBufferPointer(start: value, count: Int(PQgetlength(result, row, column))))
            }
        }
        return (rows, (0..<columns).map { PQftype(result, $0) })
    }

    func failure(_ what: String) -> BenchmarkError {
        BenchmarkError("\(what): \(PQerrorMessage(connection).map { String(cString: $0) } ?? "")")
    }
}

/// A value in PostgreSQL's binary format; `nil` is null.
typealias Field = [CChar]?
