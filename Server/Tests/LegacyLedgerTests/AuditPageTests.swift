import Foundation
import GRDB
import LegacyLedger
import TestSupport
import Testing

/// The record is read in pages of 500 rows. Forged keys must neither hide rows from it nor make it go round for ever.
@Suite("Pages of the audit")
struct AuditPageTests {
    /// A file with a record of two submissions and their evidence, and what somebody who can write to the file did to it.
    private func withForged(
        _ statements: [String], _ body: (any LedgerDatabase) async throws -> Void
    ) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.appending(path: "assay.sqlite").path
            let first = try SQLiteDatabase(path: path)
            let world = try await LedgerWorld(first)
            for transaction in ["2000000000000001", "x"] {
                _ = try await world.ledger.submit(world.submission(transaction, evidence: try LedgerWorld.evidence()))
            }
            try await first.close()
            try await DatabaseQueue(path: path).writeWithoutTransaction { database in
                let triggers = try String.fetchAll(
                    database, sql: "SELECT name FROM sqlite_master WHERE type = 'trigger'")
                for trigger in triggers { try database.execute(sql: "DROP TRIGGER \(trigger)") }
                for statement in statements { try database.execute(sql: statement) }
            }
            let second = try SQLiteDatabase(path: path)
            try await body(second)
            try await second.close()
        }
    }

    private static let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)"

    /// So many copies of the second submission, each with a key of its own.
    private static func submissions(_ key: String) -> String {
        """
        \(numbers) INSERT INTO submissions SELECT \(key), 'x' || i || submission_id, app, key_id, source_address,
        received_at, decided_at, customer_id, order_id, product_id, transaction_id, quantity, evidence_sha256,
        evidence_kind, environment, verdict, code, expected, found, replayed, hash FROM submissions, n WHERE sequence = 2
        """
    }

    @Test(
        "More than two pages of forged rows are named one by one, and handed out once",
        arguments: ["'x' || i", "CAST('x' || i AS BLOB)", "1 + i / 10000.0", "-i", "2 + i"])
    func submissions(key: String) async throws {
        try await withForged([Self.submissions(key)]) { database in
            let findings = try await Audit(database).verify().findings.filter {
                $0.table == "submissions" && [.unrecorded, .headMismatch].contains($0.kind)
            }
            #expect(findings.count == 1200 && Set(findings.map(\.row)).count == 1200)
            let lines = LineCount()
            try await Audit(database).export { _ in lines.add() }
            // Two submissions, the forged ones, and the event of the purchase that was granted.
            #expect(lines.count == 2 + 1200 + 1)
        }
    }

    @Test("Rows that have no number at all are counted")
    func nameless() async throws {
        try await withForged([Self.submissions("NULL")]) { database in
            let findings = try await Audit(database).verify().findings.filter { $0.table == "submissions" }
            #expect(findings == [Audit.Finding(table: "submissions", row: "1200 without a key", kind: .unrecorded)])
        }
    }

    @Test("More than two pages of evidence whose names are no texts are named one by one")
    func evidence() async throws {
        let insertion = """
            \(Self.numbers) INSERT INTO evidence (sha256, size, compression, content)
            SELECT CAST('e' || i AS BLOB), 0, 'none', x'' FROM n
            """
        try await withForged([insertion]) { database in
            let findings = try await Audit(database).verify().findings.filter { $0.table == "evidence" }
            #expect(findings.count == 1200 && Set(findings.map(\.row)).count == 1200)
        }
    }
}

/// Counts from within a closure that must be sendable.
private final class LineCount: @unchecked Sendable {
    private let lock = NSLock()
    private var value = 0

    var count: Int { lock.withLock { value } }

    func add() { lock.withLock { value += 1 } }
}
