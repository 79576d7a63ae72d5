import AppStoreSimulator
import Foundation
import GRDB
import PurchaseLedger
import Synchronization
import TestSupport
import Testing

/// The record is changed by somebody who can write to the file, and the audit finds it.
@Suite("The audit")
struct AuditTests {
    /// What an attacker does, and what the audit says.
    struct Attack: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let statements: [String]
        let findings: [Audit.Finding]

        init(_ name: String, _ statements: [String], _ findings: [(String, String, Audit.Finding.Kind)]) {
            testDescription = name
            self.statements = statements
            self.findings = findings.map { Audit.Finding(table: $0, row: $1, kind: $2) }
        }
    }

    static let swap = ["7 WHERE sequence = 3", "3 WHERE sequence = 4", "4 WHERE sequence = 7"]
        .map { "UPDATE submissions SET sequence = \($0)" }

    static let attacks = [
        Attack("nothing", [], []),
        Attack(
            "a code is changed", ["UPDATE submissions SET code = 'accepted' WHERE sequence = 2"],
            [("submissions", "2", .changed)]),
        Attack(
            "an address is removed", ["UPDATE submissions SET source_address = NULL WHERE sequence = 5"],
            [("submissions", "5", .changed)]),
        Attack(
            "a row and its hash are changed",
            ["UPDATE submissions SET code = 'x', hash = '00' WHERE sequence = 3"],
            [("submissions", "3", .changed), ("submissions", "4", .changed)]),
        Attack(
            "a row is removed", ["DELETE FROM submissions WHERE sequence = 3"], [("submissions", "3", .removed)]),
        Attack("the first row is removed", ["DELETE FROM events WHERE sequence = 1"], [("events", "1", .removed)]),
        Attack(
            "the last rows are removed", ["DELETE FROM submissions WHERE sequence > 4"],
            [("submissions", "5", .removed), ("submissions", "6", .removed)]),
        Attack(
            "all rows are removed", ["DELETE FROM events"],
            (1...3).map { ("events", "\($0)", .removed) }),
        Attack(
            "two rows change places", swap,
            [("submissions", "3", .changed), ("submissions", "4", .changed), ("submissions", "5", .changed)]),
        Attack(
            "a row is removed, and those behind it move up",
            [
                "DELETE FROM submissions WHERE sequence = 3",
                "UPDATE submissions SET sequence = 3 WHERE sequence = 4",
                "UPDATE submissions SET sequence = 4 WHERE sequence = 5",
                "UPDATE submissions SET sequence = 5 WHERE sequence = 6",
            ],
            [
                ("submissions", "3", .changed), ("submissions", "4", .changed), ("submissions", "5", .changed),
                ("submissions", "6", .removed),
            ]),
        Attack(
            "the last row and the head are changed",
            [
                "DELETE FROM submissions WHERE sequence = 6",
                "UPDATE chain_heads SET count = 5 WHERE name = 'submissions'",
            ],
            [("submissions", "5", .headMismatch)]),
        Attack(
            "a time of an event is changed", ["UPDATE events SET at = at + 1 WHERE sequence = 2"],
            [("events", "2", .changed)]),
    ]

    /// A file with a record of six submissions and three events, and the attack carried out on it.
    private func withRecord(
        _ attack: [String], _ body: (any LedgerDatabase) async throws -> Void
    ) async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.appending(path: "assay.sqlite").path
            let first = try SQLiteDatabase(path: path)
            let world = try await LedgerWorld(first)
            let evidence = try LedgerWorld.evidence()
            for number in 1...6 {
                _ = try await world.ledger.submit(
                    world.submission(number % 2 == 1 ? "200000000000000\(number)" : "x", evidence: evidence))
            }
            _ = try await world.order()
            _ = try await world.order()
            try await first.close()
            try await DatabaseQueue(path: path).writeWithoutTransaction { database in
                for table in ["submissions", "events", "evidence"] {
                    for action in ["update", "delete"] {
                        try database.execute(sql: "DROP TRIGGER \(table)_no_\(action)")
                    }
                }
                for statement in attack { try database.execute(sql: statement) }
            }
            let second = try SQLiteDatabase(path: path)
            try await body(second)
            try await second.close()
        }
    }

    @Test("Each changed, removed or moved row is found and named", arguments: attacks)
    func findings(attack: Attack) async throws {
        try await withRecord(attack.statements) { database in
            let report = try await Audit(database).verify()
            // What an attack on the record does to the books is found, too; here it is not what is asked.
            let findings = report.findings.filter { ["submissions", "events"].contains($0.table) }
                .filter { ![.submissionWithoutPurchase, .purchaseWithoutSubmission].contains($0.kind) }
            #expect(findings == attack.findings, "\(report.findings)")
        }
    }

    @Test("Evidence that was changed or removed is found, and so is a purchase that nobody submitted")
    func books() async throws {
        try await withRecord([
            "UPDATE evidence SET content = zeroblob(length(content))",
            "UPDATE purchases SET product_id = 'com.example.app.pro'",
        ]) { database in
            let report = try await Audit(database).verify()
            #expect(report.findings.map(\.kind) == [.changed, .purchaseWithoutSubmission, .submissionWithoutPurchase])
        }
        try await withRecord(["DELETE FROM evidence"]) { database in
            let report = try await Audit(database).verify()
            #expect(report.findings.map(\.kind) == [.evidenceMissing])
        }
    }

    @Test("Nothing in the record can be changed or removed through the database itself")
    func appendOnly() async throws {
        try await TemporaryFolder.with { folder in
            let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
            let world = try await LedgerWorld(database)
            _ = try await world.ledger.submit(world.submission(evidence: try LedgerWorld.evidence()))
            for statement in [
                "UPDATE submissions SET code = 'x'", "DELETE FROM submissions", "UPDATE events SET at = 0",
                "DELETE FROM events", "UPDATE evidence SET size = 0", "DELETE FROM evidence",
            ] {
                await #expect(throws: LedgerStorageError.self, "\(statement)") {
                    try await database.write { _ = try $0.execute(statement, []) }
                }
            }
            #expect(try await Audit(database).verify().findings.isEmpty)
            try await database.close()
        }
    }

    @Test("An export has every row, in order, and its hashes can be followed to the heads")
    func export() async throws {
        try await withRecord([]) { database in
            let lines = Mutex<[String]>([])
            let audit = Audit(database)
            try await audit.export { line in lines.withLock { $0.append(line) } }
            let objects = try lines.withLock { $0 }.map { line in
                try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            }
            #expect(objects.count == 9)
            let heads = try await audit.verify().heads
            for table in ["submissions", "events"] {
                let rows = objects.filter { $0["table"] as? String == table }
                #expect(rows.compactMap { $0["sequence"] as? Int } == Array(1...rows.count))
                #expect(rows.last?["hash"] as? String == heads[table]?.hash)
            }
        }
    }
}
