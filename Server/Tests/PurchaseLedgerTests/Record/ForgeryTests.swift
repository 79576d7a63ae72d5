import Crypto
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Forgeries by an attacker who can write to the database, knows every format and recomputes every hash, and has no
/// key.
@Suite("Forgeries of the record", .tags(.everyEngine), .sealed)
struct ForgeryTests {
    let sealed: SealedWorld = CurrentWorld.opened()

    /// All findings of the audit, with the keys and the published checkpoint.
    private func named(_ world: SealedWorld) async throws -> Set<String> {
        let log = try await world.world.ledger.auditLog([try world.published().checkpoint])
        let report = try await world.world.ledger.audit()
        return Set(log.findings.map(\.kind.rawValue) + report.findings.map(\.kind.rawValue))
    }

    /// A forged entry whose leaf, salt and details match each other.
    private struct ForgedEntry {
        let id = UUID()
        let leaf: [UInt8]
        let details: [UInt8]
        let salt = [UInt8](repeating: 7, count: 16)

        init(_ kind: JournalKind, code: String, at: Timestamp, customer: UUID?, details: String) {
            self.details = Array(details.utf8)
            leaf =
                JournalLeaf(
                    id: id, at: at, kind: kind, app: "example", customer: customer, order: nil, code: code,
                    evidence: nil, details: Array(SHA256.hash(data: salt + self.details))
                ).bytes
        }
    }

    /// The customer's reference and key.
    private func alice(_ world: SealedWorld) async throws -> (reference: UUID, key: Int64) {
        try await world.database.read(.lists) { connection in
            let row = try connection.rows(
                "SELECT reference, customer_key FROM customers WHERE name = 'alice'", [])[0].values
            guard case .blob(let bytes) = row[0], case .integer(let key) = row[1], let reference = UUID(bytes: bytes)
            else { throw LedgerStorageError(.corrupt, "no alice") }
            return (reference, key)
        }
    }

    private func insert(
        _ entry: ForgedEntry, _ kind: JournalKind, _ code: String, mac: LedgerValue, customer: Int64,
        _ connection: any LedgerConnection
    ) throws -> Int64 {
        let row = try connection.rows(
            """
            INSERT INTO journal (entry_id, leaf, salt, details, app_key, customer_key, kind, code, at, mac)
            SELECT ?1, ?2, ?3, ?4, app_key, ?5, ?6, ?7, at, ?8 FROM journal WHERE app_key > 0 LIMIT 1
            RETURNING entry_key
            """,
            [
                .blob(entry.id.bytes), .blob(entry.leaf), .blob(entry.salt), .blob(entry.details), .integer(customer),
                .integer(Int64(kind.rawValue)), .text(code), mac,
            ])[0]
        guard case .integer(let key) = row.values[0] else { throw LedgerStorageError(.other, "no key") }
        return key
    }

    @Test(
        "A claim without evidence and its rows for 1,000,000 coins are reported, although every hash was computed again"
    )
    func coins() async throws {
        let world = sealed.world
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        try await sealed.sealing.round()
        #expect(try await named(sealed) == [])
        let alice = try await alice(sealed)
        let first = try await sealed.number("SELECT min(at) FROM journal WHERE app_key > 0")
        let forged = ForgedEntry(
            .claim, code: "accepted", at: Timestamp(millisecondsSince1970: first), customer: alice.reference,
            details: "{}")
        try await sealed.database.write { connection in
            let key = try insert(forged, .claim, "accepted", mac: .blob([1, 2, 3]), customer: alice.key, connection)
            _ = try connection.execute(
                "INSERT INTO log_entries (leaf, entry_key) SELECT max(leaf) + 1, ?1 FROM log_entries",
                [.integer(key)])
            try connection.execute("UPDATE lots SET quantity = 1000000, available = 1000000", [])
            try connection.execute("UPDATE entitlements SET balance = 1000000", [])
            try connection.execute(
                "INSERT INTO events SELECT event_key + 1, app_key, ?1, type, customer_key, former_key, environment, "
                    + "product_key, transaction_key, original_key, order_key, figures FROM events "
                    + "ORDER BY event_key DESC LIMIT 1", [.integer(key)])
            try ForgedLog.computeAgain(connection)
        }
        #expect(try await world.entitlement()?.balance == 1_000_000)
        let named = try await named(sealed)
        for code in ["entry_not_authentic", "grant_without_evidence", "row_differs", "row_unknown"] {
            #expect(named.contains(code), "\(code): \(named)")
        }
        // The server does not sign it either.
        #expect(await logFailure { try await sealed.sealing.round() } == .notAuthentic)
    }

    @Test("Removing the last entry, which revoked a key, is reported, although every hash was computed again")
    func cutOff() async throws {
        let ledger = sealed.world.ledger
        let key = try await ledger.perform(CreateAPIKey(app: "example", name: "old", scopes: [.admin]))
        _ = try await ledger.perform(RevokeAPIKey(id: key.key.id))
        try await sealed.sealing.round()
        #expect(try await named(sealed) == [])
        try await sealed.tamper([
            "DELETE FROM journal WHERE entry_key = (SELECT max(entry_key) FROM journal)",
            "DELETE FROM log_entries WHERE leaf = (SELECT max(leaf) FROM log_entries)",
            "UPDATE api_keys SET revoked_at = NULL",
        ])
        _ = try await sealed.database.write { try ForgedLog.computeAgain($0) }
        let text = try #require(APIKeyText(key.text))
        #expect(try await ledger.answer(APIKeyLookup(text)) != nil)
        #expect(try await named(sealed).contains("record_shorter_than_checkpoint"))
        // Without the checkpoint, the file beside the signing key shows the same.
        #expect(await logFailure { try await sealed.sealing.round() } == .shorter)
        // A revived key whose entries were not changed is reported by its table.
        try await sealed.tamper(["UPDATE api_keys SET revoked_at = 5"])
        #expect(try await named(sealed).contains("row_differs"))
    }

    @Test("A grant that was written into the journal by hand is refused by the sealer and reported by the audit")
    func handGrant() async throws {
        _ = try await sealed.world.order()
        try await sealed.sealing.round()
        let size = try sealed.published().checkpoint.size
        let alice = try await alice(sealed)
        let at = try await sealed.number("SELECT min(at) FROM journal WHERE app_key > 0")
        let forged = ForgedEntry(
            .grantAdded, code: "", at: Timestamp(millisecondsSince1970: at), customer: alice.reference,
            details: """
                {"customer":"alice","environment":"Production","grantID":"\(UUID().uuidString.lowercased())",\
                "kind":"consumable","productID":"\(LedgerWorld.coins)","quantity":1000000,"reason":"none",\
                "startsAt":\(at)}
                """)
        // Without a code, with the code of another entry, and with an invented one.
        let codes: [LedgerValue] = [.null, .blob([UInt8](repeating: 1, count: 32))]
        for mac in codes {
            _ = try await sealed.database.write { connection in
                try connection.execute("DROP TRIGGER IF EXISTS journal_no_delete", [])
                try connection.execute("DELETE FROM journal WHERE kind = 12", [])
                return try insert(forged, .grantAdded, "", mac: mac, customer: alice.key, connection)
            }
            #expect(try await named(sealed).contains("pending_refused"))
            let round = try await sealed.sealing.round()
            #expect(round.sealed == 0 && round.refused.count == 1)
            #expect(try sealed.published().checkpoint.size == size)
            #expect(try await named(sealed).contains("entry_forgotten"))
            try await sealed.tamper(["UPDATE log_state SET sealed_up_to = (SELECT max(entry_key) FROM log_entries)"]
            )
        }
    }

    @Test("A claim that was accepted without evidence is reported, although a server with the key wrote it")
    func withoutEvidence() async throws {
        _ = try await sealed.world.order()
        let alice = try await alice(sealed)
        let at = try await sealed.number("SELECT min(at) FROM journal WHERE app_key > 0")
        let forged = ForgedEntry(
            .claim, code: "accepted", at: Timestamp(millisecondsSince1970: at), customer: alice.reference,
            details: "{}")
        let code = sealed.entryKey.code(of: forged.leaf)
        _ = try await sealed.database.write { connection in
            return try insert(forged, .claim, "accepted", mac: .blob(code), customer: alice.key, connection)
        }
        try await sealed.sealing.round()
        #expect(try await named(sealed).contains("grant_without_evidence"))
    }

    @Test("Each dropped or changed trigger, index and table is reported")
    func schema() async throws {
        let objects = try await sealed.database.read(.lists) { connection in
            try connection.rows(
                "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND type <> 'table'", [])
        }
        #expect(objects.count > 30)
        for object in objects {
            guard case .text(let type) = object.values[0], case .text(let name) = object.values[1],
                case .text(let sql) = object.values[2]
            else { continue }
            try await sealed.tamperPlainly(["DROP \(type) \(name)"])
            let findings = try await sealed.world.ledger.audit(isVerifyingEvidence: false).findings
            #expect(findings.map(\.kind) == [.schemaMissing] && findings.first?.detail == "\(type) \(name)")
            try await sealed.tamperPlainly([sql])
        }
        try await sealed.tamperPlainly([
            "CREATE TRIGGER helpful AFTER INSERT ON lots BEGIN UPDATE lots SET available = 9; END"
        ])
        #expect(try await sealed.world.ledger.audit().findings.map(\.kind) == [.schemaUnknown])
        try await sealed.tamperPlainly([
            "DROP TRIGGER helpful", "DROP INDEX orders_by_payment",
            "CREATE INDEX orders_by_payment ON orders (paid_by) WHERE paid_by IS NOT NULL",
        ])
        #expect(try await sealed.world.ledger.audit().findings.map(\.kind) == [.schemaDiffers])
    }

    @Test("Bytes after the end of stored evidence are reported")
    func appended() async throws {
        _ = try await sealed.world.claim("1", try LedgerWorld.signed("1"))
        try await sealed.sealing.round()
        for bytes in ["x'00'", "x'0000000000'", "zeroblob(4096)"] {
            try await sealed.tamperPlainly([
                "DROP TRIGGER IF EXISTS evidence_no_update", "CREATE TABLE kept AS SELECT * FROM evidence",
                "UPDATE evidence SET content = CAST(content || \(bytes) AS BLOB)",
            ])
            #expect(try await named(sealed).contains("evidence_changed"), "\(bytes)")
            try await sealed.tamperPlainly([
                "UPDATE evidence SET content = (SELECT content FROM kept)", "DROP TABLE kept",
            ])
        }
    }
}

extension SealedWorld {
    /// Executes statements without changing the triggers.
    fileprivate func tamperPlainly(_ statements: [String]) async throws {
        try await database.write { connection in
            for sql in statements { try connection.execute(sql, []) }
        }
    }
}
