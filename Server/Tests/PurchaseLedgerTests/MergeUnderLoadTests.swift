import EvidenceMint
import Foundation
import GRDB
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("A merge under load", .tags(.everyEngine))
struct MergeUnderLoadTests {
    var folder: URL { CurrentWorld.opened() }

    @Test(
        """
        On two servers, both customers of a merge buy, consume and are merged further, and nothing is lost or counted twice
        """)
    func twoServers() async throws {
        for engine in TestEngine.chosen {
            try await engine.withDatabase { open in
                let first = try open()
                let second = engine == .sqlite ? first : try open()
                let merging = try await MergingWorld(first)
                let other = try await LedgerWorld(second, clock: merging.world.clock, apps: [MergingWorld.app])
                let servers = [merging.world, other]
                let before =
                    try await Self.units(of: "alice", merging.world) + Self.units(of: "bob", merging.world)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        try await merging.world.merge("bob", into: "device")
                    }
                    for number in 0..<12 {
                        let world = servers[number % 2]
                        group.addTask {
                            let customer = ["alice", "device", "bob"][number % 3]
                            _ = try await world.claim(
                                "\(600 + number)", customer: customer, try MergingWorld.coins("\(600 + number)", 2))
                        }
                        guard number % 3 < 2 else { continue }
                        group.addTask {
                            _ = try await world.consume(1, "load-\(number)", of: ["device", "alice"][number % 3])
                        }
                    }
                    group.addTask {
                        try await other.merge("alice", into: "carol")
                    }
                    // The merge back is refused: whatever came first, both are one customer.
                    group.addTask {
                        let error = await #expect(throws: LedgerRefusal.self) {
                            try await merging.world.merge("alice", into: "device")
                        }
                        #expect(error?.code == .customerMergeCircular)
                    }
                    try await group.waitForAll()
                }
                let after = try await Self.units(of: "carol", merging.world)
                // Twelve purchases of two units, and eight consumptions of one.
                #expect(after == before + 16)
                #expect(try await Self.units(of: "device", merging.world) == after)
                try await merging.world.requireConsistency()
                try await first.close()
                if engine != .sqlite { try await second.close() }
            }
        }
    }

    @Test("A merge of few purchases reads no more of a customer with 4,000 originals than of one with 400")
    func cost() async throws {
        var steps: [Int] = []
        for count in [400, 4000] {
            try await TemporaryFolder.with { folder in
                let path = folder.appending(path: "assay.sqlite").path
                let recording = RecordingDatabase(try SQLiteDatabase(path: path))
                let world = try await LedgerWorld(recording)
                _ = try await world.claim("1", try LedgerWorld.signed("1"))
                try await CopiedPurchases.fill(recording, count: count)
                _ = try await world.claim("2", customer: "device", try LedgerWorld.signed("2"))
                let file = try DatabaseQueue(path: path)
                _ = recording.takeCalls()
                try await world.merge("device", into: "alice")
                steps.append(try StatementCost(of: recording.takeCalls(), in: file).steps)
                #expect(try await world.entitlement()?.balance == Int64(count + 1))
                try await recording.close()
            }
        }
        print("steps of a merge into a customer with 400 and 4,000 purchases: \(steps)")
        #expect(steps[1] < steps[0] * 12 / 10)
    }

    @Test("A merge writes no lot of a third customer, who consumes from it under their own lock alone", .folder)
    func lotOfAnother() async throws {
        let recording = RecordingDatabase(try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path))
        let world = try await LedgerWorld(recording)
        let coins = try LedgerWorld.signed("1") { $0.quantity = 5 }
        _ = try await world.claim("1", customer: "device", coins)
        _ = try await world.consume(3, "a", of: "device")
        try await world.move("1", to: "bob")
        _ = recording.takeCalls()
        try await world.merge("device", into: "alice")
        let written = recording.take().filter { $0.contains("UPDATE lots") && $0.contains("ground = ?1") }
        #expect(written.isEmpty, "\(written)")
        #expect(try await world.entitlement()?.shortfall == 3)
        #expect(try await world.entitlement(of: "bob")?.balance == 5)
        try await world.requireConsistency()
        try await recording.close()
    }

    /// `ASSAY_MERGE_ORIGINALS` sets the number.
    private static let many =
        ProcessInfo.processInfo.environment["ASSAY_MERGE_ORIGINALS"].flatMap { Int($0) } ?? 1_500

    @Test("A merge of more originals than a transaction may lock takes the whole ledger, and renames all of them")
    func large() async throws {
        for engine in TestEngine.chosen {
            try await engine.withDatabase { open in
                let world = try await LedgerWorld(try open())
                _ = try await world.claim("1", customer: "device", try LedgerWorld.signed("1"))
                try await CopiedPurchases.fill(world.database, count: Self.many)
                _ = try await world.claim("2", customer: "alice", try LedgerWorld.signed("2"))
                let start = ContinuousClock.now
                try await world.ledger.perform(
                    MergeCustomers(app: "example", customerID: "device", into: "alice", holdsWrites: true))
                print("a merge of \(Self.many) originals on \(engine.rawValue): \(ContinuousClock.now - start)")
                #expect(try await world.entitlement()?.balance == Int64(Self.many + 1))
                #expect(try await world.entitlement(of: "device")?.balance == Int64(Self.many + 1))
                let owners = try await world.database.read(.lists) { connection in
                    try connection.rows(
                        """
                        SELECT name, owner_reason, count(*) FROM transactions JOIN customers ON customer_key = owner_key
                        GROUP BY name, owner_reason ORDER BY owner_reason
                        """, []
                    ).map(\.values)
                }
                #expect(
                    owners == [
                        [.text("alice"), .text("claim"), .integer(1)],
                        [.text("alice"), .text("merge"), .integer(Int64(Self.many))],
                    ])
                try await world.database.close()
            }
        }
    }

    private static func units(of customer: String, _ world: LedgerWorld) async throws -> Int64 {
        try await world.entitlement(of: customer, environment: .production)?.balance ?? 0
    }
}
