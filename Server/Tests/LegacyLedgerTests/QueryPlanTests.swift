import EvidenceMint
import Foundation
import GRDB
import LegacyLedger
import Synchronization
import TestSupport
import Testing

/// What is asked often is found by an index: no statement reads a table from one end to the other, and none sorts much.
@Suite("Query plans")
struct QueryPlanTests {
    /// Statements as they were sent, gathered from all that the ledger does.
    private func statements(_ world: LedgerWorld, _ recorder: RecordingDatabase) async throws -> Set<String> {
        let evidence = try LedgerWorld.evidence()
        let order = try await world.order()
        let app = world.app
        _ = try await world.ledger.submit(world.submission(customer: nil, order: order.id, evidence: evidence))
        for (transaction, product) in [
            ("2000000000000002", "com.example.app.pro"), ("2000000000000004", "com.example.app.monthly"),
        ] {
            _ = try await world.ledger.submit(world.submission(transaction, product: product, evidence: evidence))
        }
        var cancelled = MintedWorld.purchases()
        cancelled[1].cancellationDate = MintedWorld.moment
        let refund = try LedgerWorld.evidence(cancelled)
        _ = try await world.ledger.submit(
            world.submission("2000000000000002", product: "com.example.app.pro", evidence: refund))
        _ = try await world.ledger.write {
            try $0.consume(
                1, of: "com.example.app.coins", customerID: "alice", app: app.id, consumptionID: "1", environment: nil)
        }
        _ = try await world.ledger.read { reader in
            for status in [nil, OrderStatus.paid, .created] {
                for customer in [nil, "alice"] {
                    _ = try reader.orders(status, customerID: customer, app: app.id, limit: 5)
                }
            }
            _ = try reader.purchases(of: "alice", app: app.id, limit: 5)
            var filters: [SubmissionFilter] = Array(repeating: SubmissionFilter(), count: 6)
            filters[1].customerID = "alice"
            filters[2].orderID = order.id
            filters[3].transactionID = "2000000000000002"
            filters[4].verdict = .accepted
            filters[5].code = "accepted"
            for filter in filters { _ = try reader.submissions(filter, app: app.id, limit: 5) }
        }
        return recorder.statements.withLock { $0 }
    }

    @Test("Whatever the ledger asks while it serves, an index answers")
    func indexes() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.appending(path: "assay.sqlite").path
            let recorder = RecordingDatabase(try SQLiteDatabase(path: path))
            let world = try await LedgerWorld(recorder)
            recorder.statements.withLock { $0 = [] }
            let statements = try await statements(world, recorder).filter { !$0.hasPrefix("INSERT") }
            #expect(statements.count > 25)
            try await recorder.close()
            let plans = try await DatabaseQueue(path: path).read { database in
                try statements.map { sql in
                    let rows = try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN " + sql, arguments: Self.nulls(sql))
                    return (sql: sql, plan: rows.map { $0["detail"] as String })
                }
            }
            for (sql, plan) in plans {
                for step in plan {
                    // A search that knows only the app reads all of it.
                    let isWhole =
                        step.hasPrefix("SCAN") || step.hasSuffix("(app=?)")
                        || step.hasSuffix("(app=? AND environment=?)")
                    let isInOrder = plan.allSatisfy { !$0.contains("USE TEMP B-TREE") } && sql.contains("LIMIT")
                    #expect(!isWhole || isInOrder, "\(sql): \(plan)")
                }
            }
        }
    }

    private static func nulls(_ sql: String) -> StatementArguments {
        let count = sql.matches(of: /\?(\d+)/).compactMap { Int($0.output.1) }.max() ?? 0
        return StatementArguments(Array(repeating: DatabaseValue.null, count: count))
    }
}

/// A database that notes every statement.
final class RecordingDatabase: LedgerDatabase {
    let statements = Mutex<Set<String>>([])
    private let database: SQLiteDatabase

    init(_ database: SQLiteDatabase) {
        self.database = database
    }

    var dialect: any LedgerDialect { database.dialect }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        try await database.read { try body(Connection(recorder: self, connection: $0)) }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (any LedgerConnection) throws -> Value
    ) async throws -> Value {
        try await database.write { try body(Connection(recorder: self, connection: $0)) }
    }

    func close() async throws { try await database.close() }

    private struct Connection: LedgerConnection {
        let recorder: RecordingDatabase
        let connection: any LedgerConnection

        func execute(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> Int {
            recorder.note(sql)
            return try connection.execute(sql, parameters)
        }

        func rows(_ sql: String, _ parameters: [LedgerValue]) throws(LedgerStorageError) -> [LedgerRow] {
            recorder.note(sql)
            return try connection.rows(sql, parameters)
        }
    }

    private func note(_ sql: String) {
        statements.withLock { statements in _ = statements.insert(sql) }
    }
}
