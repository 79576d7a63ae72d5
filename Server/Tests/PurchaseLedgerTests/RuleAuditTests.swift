import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// The comparison of the tables with the pure rules, which finds a fault of what writes them: a rebuild repeats such a
/// fault.
@Suite("The audit by the rules", .tags(.everyEngine))
struct RuleAuditTests {
    /// A row as a faulty writer would leave it, and a part of the finding that names it.
    static let faults: [(sql: String, detail: String)] = [
        (
            "UPDATE entitlements SET timeline = (SELECT timeline FROM entitlements WHERE ground BETWEEN -99 AND -1) WHERE ground > 0",
            "com.example.app.monthly"
        ),
        ("DELETE FROM entitlements WHERE ground > 0", "com.example.app.monthly"),
        ("UPDATE entitlements SET balance = balance + 1 WHERE ground = 0", "com.example.app.coins"),
        ("UPDATE entitlements SET reason = 'revoked' WHERE ground = 0", "com.example.app.coins"),
        ("UPDATE entitlements SET shortfall = 1 WHERE ground = 0", "com.example.app.coins"),
        ("DELETE FROM entitlements WHERE ground = 0", "com.example.app.coins"),
        ("UPDATE lots SET withdrawn = 1, available = available - 1 WHERE ground > 0", "the lot of original 20"),
        ("UPDATE lots SET taken = taken + 1, available = available - 1 WHERE ground > 0", "the lot of original 20"),
        ("DELETE FROM lots WHERE ground > 0", "the lot of original 20"),
        ("DELETE FROM entitlements WHERE ground < -99", "com.example.app.pass"),
        ("DELETE FROM entitlements WHERE ground BETWEEN -99 AND -1", "com.example.app.pro"),
        ("UPDATE transactions SET owner_key = NULL WHERE transaction_id = '10'", "the owner of transaction 10"),
        (
            """
            INSERT INTO entitlements (customer_key, product_key, environment, ground, kind, balance, shortfall)
            SELECT customer_key, product_key, 2, ground, kind, 5, 0 FROM entitlements WHERE ground = 0
            """, "com.example.app.coins"
        ),
        (
            """
            INSERT INTO entitlements (customer_key, product_key, environment, ground, kind, balance, shortfall, timeline)
            SELECT customer_key, product_key, environment, 77, kind, 0, 0, timeline FROM entitlements WHERE ground > 0
            """, "com.example.app.monthly"
        ),
    ]

    @Test("33.3 Every fault of the writer is named, and no finding without one", .enabled(if: TestEngine.ownsTables))
    func faults() async throws {
        try await LedgerWorld.with { world in
            _ = try await world.claim("10", try LedgerWorld.period("10", original: "10", from: 0))
            _ = try await world.claim("20", try LedgerWorld.signed("20") { $0.quantity = 10 })
            _ = try await world.consume(4, "use")
            for id in ["30", "31"] {
                _ = try await world.claim(id, try LedgerWorld.signed(id, product: LedgerWorld.pass))
            }
            try await world.grant(LedgerWorld.pro, to: "alice", quantity: 1)
            #expect(try await RuleAudit(world.database).findings() == [])
            for fault in Self.faults {
                try await Self.undone(world.database, fault.sql) { database in
                    let findings = try await RuleAudit(database).findings()
                    #expect(
                        findings.contains { $0.kind == .ruleDiffers && $0.detail.contains(fault.detail) },
                        "\(fault.sql): \(findings.map(\.detail))")
                }
            }
            #expect(try await RuleAudit(world.database).findings() == [])
        }
    }

    @Test("33.3 A finding of the rules is none of the tables, so no rebuild is written")
    func notRebuilt() {
        #expect(!AuditFinding.Kind.ruleDiffers.isMendedByRebuild)
    }

    /// Runs a statement, calls the body, and puts the three tables back.
    private static func undone(
        _ database: any LedgerDatabase, _ sql: String, _ body: (any LedgerDatabase) async throws -> Void
    ) async throws {
        let tables = ["entitlements", "lots", "transactions"]
        try await database.write { connection in
            for table in tables { try connection.execute("CREATE TABLE kept_\(table) AS SELECT * FROM \(table)", []) }
            try connection.execute(sql, [])
        }
        try await body(database)
        try await database.write { connection in
            for table in tables {
                try connection.execute("DELETE FROM \(table)", [])
                try connection.execute("INSERT INTO \(table) SELECT * FROM kept_\(table)", [])
                try connection.execute("DROP TABLE kept_\(table)", [])
            }
        }
    }
}
