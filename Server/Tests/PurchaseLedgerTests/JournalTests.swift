import Crypto
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("The journal", .tags(.everyEngine))
struct JournalTests {
    private func leaf() -> JournalLeaf {
        JournalLeaf(
            id: UUID(), at: Timestamp(millisecondsSince1970: 1_700_000_000_123), kind: .claim, app: "example",
            customer: UUID(), order: nil, code: "accepted", evidence: [UInt8](repeating: 7, count: 32),
            details: [UInt8](repeating: 9, count: 32))
    }

    @Test("A leaf has the documented bytes")
    func layout() {
        let leaf = leaf()
        let bytes = leaf.bytes
        var expected: [UInt8] = [1] + leaf.id.bytes
        expected += [0x00, 0x00, 0x01, 0x8B, 0xCF, 0xE5, 0x68, 0x7B, 3, 7] + Array("example".utf8)
        expected += (leaf.customer?.bytes ?? []) + [UInt8](repeating: 0, count: 16) + [8] + Array("accepted".utf8)
        expected += [UInt8](repeating: 7, count: 32) + [UInt8](repeating: 9, count: 32)
        #expect(bytes == expected)
        #expect(JournalLeaf(bytes: bytes) == leaf)
    }

    @Test("No proper prefix of a leaf is a leaf, and neither is a leaf with an extra byte")
    func prefixes() {
        let bytes = leaf().bytes
        for count in bytes.indices { #expect(JournalLeaf(bytes: Array(bytes.prefix(count))) == nil) }
        #expect(JournalLeaf(bytes: bytes + [0]) == nil)
    }

    @Test(
        "The details of a claim are the JSON that Foundation's encoder writes with sorted keys, whatever the fields say"
    )
    func canonicalDetails() async throws {
        try await LedgerWorld.with { world in
            let controls = String(decoding: (0..<128).map { UInt8($0) }, as: UTF8.self)
            for (number, text) in [
                "alice", "a/b \\ \"c\"", controls, "e\u{301}\u{316} \u{1F600} \u{2028}", "", "null",
            ].enumerated() {
                for product in [LedgerWorld.coins, text] {
                    var submission = world.submission(
                        "\(number)", product: product, try LedgerWorld.signed("\(number)"))
                    (submission.claim.customerID, submission.sourceAddress) = (text, text)
                    // The server knows its keys, so their ids have no control characters.
                    submission.keyID = text.replacingOccurrences(of: controls, with: "key")
                    (submission.claim.quantity, submission.claim.orderID) = (.min, number % 2 == 0 ? nil : text)
                    _ = try await world.ledger.submit(submission)
                }
            }
            let kind = Int64(JournalKind.claim.rawValue)
            let stored = try await world.database.read(.lists) { connection in
                try connection.rows("SELECT details FROM journal WHERE kind = ?1", [.integer(kind)]).flatMap(\.values)
            }
            #expect(stored.count == 12)
            for value in stored {
                guard case .blob(let bytes) = value, let json = JSONShorthand.expanded(bytes) else {
                    Issue.record("no details: \(value)")
                    continue
                }
                let object = try JSONSerialization.jsonObject(with: Data(json))
                let again = try JSONSerialization.data(
                    withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
                #expect(Data(json) == again, "\(String(decoding: json, as: UTF8.self))")
            }
            #expect(try await world.ledger.audit().findings == [])
        }
    }

    @Test("The kinds keep their numbers")
    func kinds() {
        #expect(
            JournalKind.allCases.map(\.rawValue) == Array(1...23) + [
                26, 27, 28, 29, 33, 34, 35, 36, 37, 48, 38, 39, 40, 41, 42, 43, 32,
            ])
        #expect(Set(JournalKind.allCases.map(\.name)).count == JournalKind.allCases.count)
    }

    @Test("Ids follow the time, and are UUIDs of version 7")
    func ids() {
        let ids = (0..<100).map { TimeOrderedID.next(at: Timestamp(millisecondsSince1970: 1_700_000_000_000 + $0)) }
        #expect(ids.map(\.text) == ids.map(\.text).sorted())
        #expect(ids.allSatisfy { $0.bytes[6] >> 4 == 7 && $0.bytes[8] >> 6 == 2 })
    }

    @Test("A change of any byte of a leaf, of details or of evidence is detected")
    func tampering() async throws {
        let changes = [
            ("UPDATE journal SET leaf = zeroblob(10) WHERE kind = 3", AuditFinding.Kind.leafMalformed),
            ("UPDATE journal SET details = x'7b7d' WHERE kind = 3", .detailsChanged),
            ("UPDATE journal SET code = 'other' WHERE kind = 3", .columnDiffers),
            ("UPDATE journal SET app_key = 1000 WHERE app_key = 0", .columnDiffers),
            ("UPDATE journal SET details = NULL WHERE kind = 3", .missingWithoutErasure),
            ("UPDATE evidence SET content = CAST(content || x'00' AS BLOB)", .evidenceChanged),
            ("UPDATE evidence SET content = NULL", .missingWithoutErasure),
            ("UPDATE lots SET quantity = quantity + 1", .rowDiffers),
            ("UPDATE entitlements SET balance = 1000", .rowDiffers),
            ("DELETE FROM ownership_acts", .rowMissing),
            (
                "INSERT INTO testers SELECT app_key, customer_key, 1 FROM customers", .rowUnknown
            ),
        ]
        for (sql, kind) in changes {
            try await TemporaryFolder.with { folder in
                let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
                let world = try await LedgerWorld(database)
                _ = try await world.claim("1", try LedgerWorld.signed("1"))
                #expect(try await world.ledger.audit().findings.isEmpty)
                try await database.write { connection in
                    for trigger in ["journal_no_update", "evidence_no_update"] {
                        try connection.execute("DROP TRIGGER \(trigger)", [])
                    }
                    try connection.execute(sql, [])
                }
                let kinds = try await world.ledger.audit().findings.map(\.kind)
                #expect(kinds.contains(kind), "\(sql): \(kinds)")
                try await database.close()
            }
        }
    }
}
