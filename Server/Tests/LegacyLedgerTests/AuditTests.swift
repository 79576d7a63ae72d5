import EvidenceMint
import Foundation
import GRDB
import LegacyLedger
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
            "a row is put before the first",
            [
                "DROP TRIGGER submissions_in_order",
                """
                INSERT INTO submissions SELECT -5, 'x' || submission_id, app, key_id, source_address, received_at,
                decided_at, customer_id, order_id, product_id, transaction_id, quantity, evidence_sha256,
                evidence_kind, environment, verdict, code, expected, found, replayed, hash FROM submissions
                WHERE sequence = 2
                """,
            ], [("submissions", "-5", .unrecorded)]),
        Attack(
            "a row has a word for a number", ["UPDATE submissions SET sequence = 'x' WHERE sequence = 6"],
            [("submissions", "x", .unrecorded), ("submissions", "6", .removed)]),
        Attack(
            "a hash is no text", ["UPDATE submissions SET hash = x'00' WHERE sequence = 6"],
            [("submissions", "6", .changed), ("submissions", "6", .headMismatch)]),
        Attack(
            "the head counts to the end of numbers",
            ["UPDATE chain_heads SET count = 9223372036854775807 WHERE name = 'submissions'"],
            [("submissions", "7 to 9223372036854775807", .removed)]),
        Attack(
            "a row has the last of all numbers",
            ["UPDATE submissions SET sequence = 9223372036854775807 WHERE sequence = 6"],
            [
                ("submissions", "6 to 9223372036854775806", .removed),
                ("submissions", "9223372036854775807", .headMismatch),
            ]),
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
            #expect(
                report.findings.prefix(3).map(\.kind) == [
                    .changed, .purchaseWithoutSubmission, .submissionWithoutPurchase,
                ])
        }
        try await withRecord(["DELETE FROM evidence"]) { database in
            let report = try await Audit(database).verify()
            #expect(report.findings.map(\.kind) == [.evidenceMissing])
        }
    }

    /// What somebody who can write to the file does to the books, and where the audit finds it.
    static let bookAttacks: [(statement: String, table: String, kind: Audit.Finding.Kind)] =
        [
            ("UPDATE purchases SET customer_id = 'mallory'", "purchases", .changed),
            ("UPDATE purchases SET customer_id = 'jos\u{E9}' WHERE customer_id = 'jose\u{301}'", "purchases", .changed),
            ("UPDATE purchases SET quantity = 1000 WHERE product_id LIKE '%coins'", "purchases", .changed),
            ("UPDATE purchases SET expires_at = expires_at + 86400000", "purchases", .changed),
            ("UPDATE purchases SET original_transaction_id = 'x'", "purchases", .changed),
            ("UPDATE purchases SET state = 'active', withdrawn_at = NULL", "purchases", .changed),
            ("UPDATE purchases SET withdrawn_at = withdrawn_at + 1", "purchases", .changed),
            ("UPDATE purchases SET order_id = NULL", "purchases", .changed),
            ("DELETE FROM purchases WHERE product_id LIKE '%pro'", "purchases", .removed),
            ("UPDATE original_purchases SET customer_id = 'mallory'", "original_purchases", .changed),
            ("DELETE FROM original_purchases", "purchases", .changed),
            ("UPDATE entitlements SET balance = balance + 1 WHERE product_id LIKE '%coins'", "entitlements", .changed),
            ("UPDATE entitlements SET state = 'active' WHERE state <> 'active'", "entitlements", .changed),
            ("UPDATE entitlements SET until = NULL", "entitlements", .changed),
            ("DELETE FROM entitlements", "entitlements", .removed),
            (
                """
                INSERT INTO entitlements SELECT app, 'mallory', product_id, environment, product_type, state, balance,
                since, until, transaction_id, reason, updated_at FROM entitlements
                """, "entitlements", .unrecorded
            ),
            ("UPDATE orders SET status = 'created' WHERE status = 'paid'", "orders", .changed),
            ("UPDATE orders SET customer_id = 'mallory'", "orders", .changed),
            ("UPDATE orders SET metadata = '{}'", "orders", .changed),
            ("UPDATE orders SET app_account_token = order_id", "orders", .changed),
            ("DELETE FROM orders", "orders", .removed),
            ("UPDATE orders SET order_id = ''", "orders", .unrecorded),
            ("UPDATE orders SET order_id = NULL", "orders", .changed),
            ("UPDATE purchases SET state = 'x'", "purchases", .changed),
            ("UPDATE purchases SET quantity = 1.5", "purchases", .changed),
            ("UPDATE purchases SET transaction_id = x'00' WHERE product_id LIKE '%coins'", "purchases", .removed),
            (
                """
                UPDATE entitlements SET product_type = 'non_consumable', state = 'withdrawn', balance = 0
                WHERE product_id LIKE '%coins'
                """, "entitlements", .changed
            ),
            ("UPDATE purchases SET product_type = x'00'", "purchases", .changed),
            ("UPDATE entitlements SET balance = x'00'", "entitlements", .changed),
            (
                "UPDATE entitlements SET product_type = 'consumable', balance = 5 WHERE product_type = 'auto_renewable'",
                "entitlements", .unrecorded
            ),
            (
                "DROP TRIGGER events_no_update; UPDATE events SET quantity = 9223372036854775807", "events", .changed
            ),
            ("UPDATE consumptions SET quantity = 1", "consumptions", .changed),
            ("UPDATE consumptions SET balance = 100", "consumptions", .changed),
            ("DELETE FROM consumptions", "consumptions", .removed),
            ("UPDATE withdrawals SET withdrawn_at = 0", "withdrawals", .changed),
            ("UPDATE withdrawals SET original_transaction_id = 'x'", "withdrawals", .changed),
            ("UPDATE withdrawals SET expires_at = 0", "withdrawals", .changed),
            ("DELETE FROM withdrawals", "withdrawals", .removed),
            (
                "UPDATE withdrawals SET original_transaction_id = original_transaction_id || char(0)", "withdrawals",
                .changed
            ),
            ("UPDATE orders SET status = status || char(0)", "orders", .changed),
            (
                "DROP TRIGGER events_no_update; UPDATE events SET detail = detail || char(0) || 'x'", "events", .changed
            ),
            ("UPDATE purchases SET first_expires_at = NULL", "purchases", .changed),
            ("UPDATE purchases SET web_order_line_item_id = '1'", "purchases", .changed),
            ("UPDATE api_keys SET scopes = 'admin'", "api_keys", .changed),
            ("UPDATE api_keys SET revoked_at = NULL", "api_keys", .changed),
            ("UPDATE api_keys SET secret_sha256 = 'x'", "api_keys", .changed),
            ("DELETE FROM api_keys", "api_keys", .removed),
        ]

    @Test("Whatever is changed in the books, so that they do not follow from the record, is found and named")
    func booksFollowFromTheRecord() async throws {
        for attack in Self.bookAttacks {
            try await TemporaryFolder.with { folder in
                let path = folder.appending(path: "assay.sqlite").path
                let first = try SQLiteDatabase(path: path)
                try await keepBooks(try await LedgerWorld(first))
                let before = try await Audit(first).verify()
                #expect(before.findings.isEmpty)
                try await first.close()
                try await DatabaseQueue(path: path).writeWithoutTransaction { database in
                    try database.execute(sql: attack.statement)
                    #expect(database.changesCount > 0, "\(attack.statement)")
                }
                let second = try SQLiteDatabase(path: path)
                let report = try await Audit(second).verify()
                #expect(
                    report.findings.contains { $0.table == attack.table && $0.kind == attack.kind },
                    "\(attack.statement): \(report.findings)")
                try await second.close()
            }
        }
    }

    /// Something of everything: an order that is paid, coins that are used, a period, a refund, a key.
    private func keepBooks(_ world: LedgerWorld) async throws {
        let evidence = try LedgerWorld.evidence()
        let app = world.app
        let order = try await world.ledger.write {
            try $0.createOrder(
                OrderDraft(
                    customerID: "jose\u{301}", productID: "com.example.app.coins", quantity: 3, metadata: #"{"a":"b"}"#),
                app: app)
        }
        _ = try await world.ledger.submit(world.submission(customer: nil, order: order.id, evidence: evidence))
        _ = try await world.ledger.submit(
            world.submission("2000000000000004", product: "com.example.app.monthly", evidence: evidence))
        _ = try await world.ledger.submit(
            world.submission("2000000000000002", product: "com.example.app.pro", evidence: evidence))
        var purchases = MintedWorld.purchases()
        purchases[1].cancellationDate = MintedWorld.moment
        _ = try await world.ledger.submit(
            world.submission(
                "2000000000000002", product: "com.example.app.pro", evidence: try LedgerWorld.evidence(purchases)))
        _ = try await world.ledger.write { transaction in
            _ = try transaction.consume(
                2, of: "com.example.app.coins", customerID: "jose\u{301}", app: app.id, consumptionID: "1",
                environment: nil)
            let key = try transaction.createKey(app: app.id, name: "phone", scopes: [.client]).key
            return try transaction.revokeKey(key.id)
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
                "INSERT OR REPLACE INTO submissions SELECT * FROM submissions WHERE sequence = 1",
                "INSERT OR REPLACE INTO events SELECT * FROM events WHERE sequence = 1",
                """
                INSERT OR REPLACE INTO submissions SELECT sequence + 1, submission_id, app, key_id, source_address,
                received_at, decided_at, customer_id, order_id, product_id, transaction_id, quantity, evidence_sha256,
                evidence_kind, environment, verdict, code, expected, found, replayed, hash FROM submissions
                """,
                "DELETE FROM events", "UPDATE evidence SET size = 0", "DELETE FROM evidence",
            ] {
                await #expect(throws: LedgerStorageError.self, "\(statement)") {
                    try await database.write { _ = try $0.execute(statement, []) }
                }
            }
            // What is there already is left as it is, without a word: the same evidence comes again and again.
            _ = try await database.write { connection in
                try connection.execute(
                    "INSERT OR REPLACE INTO evidence SELECT sha256, 0, compression, x'00' FROM evidence", [])
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
