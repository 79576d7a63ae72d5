import EvidenceMint
import Foundation
import GRDB
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// What one purchase keeps on the disk. It is counted, so it does not depend on the speed of the machine.
///
/// `ASSAY_COST_PURCHASES` is the number of purchases; 20,000 and more show the trees as they are in use.
@Suite("Bytes of a purchase")
struct PurchaseBytesTests {
    private static let count = ProcessInfo.processInfo.environment["ASSAY_COST_PURCHASES"].flatMap(Int.init) ?? 1000

    @Test("A purchase that signed data proves keeps at most 1,300 bytes, all rows and indexes included")
    func signedData() async throws {
        let bytes = try await bytes("JWS") { id in try LedgerWorld.signed(id) }
        #expect(bytes <= 1300)
    }

    @Test("A purchase that a receipt proves keeps at most 2,100 bytes, all rows and indexes included")
    func receipts() async throws {
        let bytes = try await bytes("receipt") { id in
            try LedgerWorld.receipt([
                .consumable(productID: LedgerWorld.coins, transactionID: id, purchaseDate: MintedWorld.moment)
            ])
        }
        #expect(bytes <= 2100)
    }

    /// The bytes for each purchase of a customer of its own, without what an empty database has.
    private func bytes(_ name: String, evidence: (String) throws -> [UInt8]) async throws -> Double {
        var bytes = 0.0
        try await TemporaryFolder.with { folder in
            let path = folder.appending(path: "assay.sqlite").path
            let database = try SQLiteDatabase(path: path)
            let world = try await LedgerWorld(database)
            let size = { (try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0 }
            _ = try await database.set("wal_checkpoint", to: "TRUNCATE")
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
            try await database.close()
            bytes = Double(try size() - empty) / Double(Self.count)
            print("\(name): \(Int(bytes)) bytes per purchase of \(Self.count)")
            try printTables(path)
        }
        return bytes
    }

    /// Prints what each table and index takes of a purchase, if SQLite was built with `dbstat`.
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
