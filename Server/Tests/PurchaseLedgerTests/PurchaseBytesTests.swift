import Crypto
import EvidenceMint
import Foundation
import GRDB
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// The disk space of one purchase. It is counted, so it does not depend on the speed of the machine.
///
/// `ASSAY_COST_PURCHASES` is the number of purchases; 20,000 and more show the trees as they are in use.
@Suite("Bytes of a purchase")
struct PurchaseBytesTests {
    private static let count = ProcessInfo.processInfo.environment["ASSAY_COST_PURCHASES"].flatMap(Int.init) ?? 1000

    @Test("A purchase with signed data stores at most 1,300 bytes and dirties at most 6 pages, indexes included")
    func signedData() async throws {
        let cost = try await cost("JWS") { id in try LedgerWorld.signed(id) }
        #expect(cost.bytes <= 1300 && cost.pages <= 6)
    }

    @Test("A purchase with a receipt stores at most 2,100 bytes and dirties at most 6 pages, indexes included")
    func receipts() async throws {
        let cost = try await cost("receipt") { id in
            try LedgerWorld.receipt([
                .consumable(productID: LedgerWorld.coins, transactionID: id, purchaseDate: MintedWorld.moment)
            ])
        }
        #expect(cost.bytes <= 2100 && cost.pages <= 6)
    }

    /// The bytes per purchase of a new customer, without those of an empty database, and the pages that it writes.
    private func cost(
        _ name: String, evidence: (String) throws -> [UInt8]
    ) async throws -> (bytes: Double, pages: Double) {
        var cost = (bytes: 0.0, pages: 0.0)
        try await TemporaryFolder.with { folder in
            let path = folder.appending(path: "assay.sqlite").path
            let database = try SQLiteDatabase(path: path)
            let world = try await LedgerWorld(database)
            func size(_ suffix: String = "") throws -> Int {
                (try FileManager.default.attributesOfItem(atPath: path + suffix)[.size] as? Int) ?? 0
            }
            try await database.set("wal_checkpoint", to: "TRUNCATE")
            // Every written page then stays in the WAL, and can be counted.
            try await database.set("wal_autocheckpoint", to: "0")
            let empty = try size()
            for start in stride(from: 0, to: Self.count, by: 32) {
                var claims: [ExaminedSubmission] = []
                for number in start..<min(start + 32, Self.count) {
                    let id = "2000000\(830_000_000 + number * 7)"
                    let customer = "customer-\(1_000_000 + number * 7919 % 1_000_000)"
                    claims.append(world.ledger.examine(world.submission(id, customer: customer, try evidence(id))))
                }
                let batch = claims
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for claim in batch {
                        group.addTask {
                            let outcome = try await world.ledger.perform(ClaimPurchase(claim))
                            #expect(outcome.code == "accepted")
                        }
                    }
                    try await group.waitForAll()
                }
            }
            // A frame of the WAL is a page with a header of 24 bytes.
            cost.pages = Double(try size("-wal")) / Double(4096 + 24) / Double(Self.count)
            try await database.close()
            cost.bytes = Double(try size() - empty) / Double(Self.count)
            print("\(name): \(Int(cost.bytes)) bytes and \(cost.pages) pages per purchase of \(Self.count)")
            try printTables(path)
        }
        return cost
    }

    /// Prints the space of each table and index per purchase, if SQLite was built with `dbstat`.
    private func printTables(_ path: String) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.read { database in
            let has = try Bool.fetchOne(database, sql: "SELECT sqlite_compileoption_used('ENABLE_DBSTAT_VTAB')")
            guard has == true else { return }
            for row in try Row.fetchAll(
                database,
                sql: """
                    SELECT name, sum(pgsize) AS bytes, sum(payload) AS payload, sum(unused) AS unused FROM dbstat
                    GROUP BY name ORDER BY bytes DESC LIMIT 24
                    """)
            {
                let (name, bytes, payload): (String, Int, Int) = (row["name"], row["bytes"], row["payload"])
                print("  \(name): \(bytes / Self.count) bytes, \(payload / Self.count) of content")
            }
        }
    }
}

@Suite("The short form of journal details")
struct JSONShorthandTests {
    @Test("Any bytes are restored, even those that contain the bytes of fragments")
    func roundTrip() {
        var generator = SeededGenerator(seed: 3)
        let pieces =
            JSONShorthand.fragments + [
                Array("x".utf8), Array("\"".utf8), Array("{".utf8), Array("é\n".utf8), [0], [7], [31],
            ]
        for _ in 0..<3000 {
            let count = Int.random(in: 0...12, using: &generator)
            let bytes = (0..<count).flatMap { _ in pieces.randomElement(using: &generator) ?? [] }
            #expect(JSONShorthand.expanded(JSONShorthand.shortened(bytes)) == bytes)
        }
    }

    @Test("Plain JSON is its own short form, so a database with plain details can be read")
    func plain() {
        let json = Array(#"{"a":1}"#.utf8)
        #expect(JSONShorthand.shortened(json) == json && JSONShorthand.expanded(json) == json)
    }

    @Test("The fragments never change, because stored entries need them")
    func fragments() {
        #expect(JSONShorthand.fragments.count == 31)
        #expect(JSONShorthand.fragments.allSatisfy { $0.allSatisfy { $0 >= 0x20 } })
        let digest = SHA256.hash(data: Array(JSONShorthand.fragments.joined(separator: [0])))
        #expect(
            digest.map { String(format: "%02x", $0) }.joined()
                == "21dae8885eb2ca79d1af1c0aa2907cf4fe21261c485c54ca195a508947a2b7b3")
    }
}

@Suite("Text from outside")
struct ExactTextTests {
    @Test("Texts are equal exactly if all their bytes are, whatever their length and the place of the difference")
    func equality() {
        for count in 0...40 {
            let bytes = (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 26) }
            let text = ExactText(String(decoding: bytes, as: UTF8.self))
            #expect(text == ExactText(String(decoding: Array(bytes), as: UTF8.self)))
            #expect(text != ExactText(String(decoding: bytes + [UInt8(ascii: "a")], as: UTF8.self)))
            for place in bytes.indices {
                var other = bytes
                other[place] ^= 0x20
                #expect(text != ExactText(String(decoding: other, as: UTF8.self)), "byte \(place) of \(count)")
            }
        }
        #expect(ExactText("Zo\u{EB}") != ExactText("Zoe\u{308}"), "String calls them equal")
    }
}
