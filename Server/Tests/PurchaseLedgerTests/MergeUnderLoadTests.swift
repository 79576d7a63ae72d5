import EvidenceMint
import Foundation
import GRDB
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("A merge under load", .tags(.everyEngine))
struct MergeUnderLoadTests {
    @Test(
        """
        Two servers finish one merge while both customers buy, consume and are merged further, and nothing is lost or counted \
        twice
        """)
    func twoServers() async throws {
        for engine in TestEngine.chosen {
            try await engine.withDatabase { open in
                let first = try open()
                let second = engine == .sqlite ? first : try open()
                let merging = try await MergingWorld(first)
                let other = try await LedgerWorld(second, clock: merging.world.clock, apps: [MergingWorld.app])
                let servers = [merging.world, other]
                let before = try await Self.units(of: "alice", merging.world)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for world in servers { group.addTask { _ = try await world.ledger.finishMerges() } }
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
                        try await other.ledger.perform(
                            MergeCustomers(app: "example", customerID: "alice", into: "carol"))
                    }
                    // The merge back is refused: whatever came first, both are one customer.
                    group.addTask {
                        let error = await #expect(throws: LedgerRefusal.self) {
                            try await merging.world.ledger.perform(
                                MergeCustomers(app: "example", customerID: "alice", into: "device"))
                        }
                        #expect(error?.code == .customerMergeCircular)
                    }
                    try await group.waitForAll()
                }
                // A request of a merge follows it for two seconds only; the server's own task moves the rest.
                for world in servers { _ = try await world.ledger.finishMerges() }
                #expect(try await !merging.moveOriginal())
                let after = try await Self.units(of: "carol", merging.world)
                // Eight purchases of two units, and eight consumptions of one.
                #expect(after == before + 8)
                #expect(try await Self.units(of: "device", merging.world) == after)
                try await merging.world.requireConsistency()
                try await first.close()
                if engine != .sqlite { try await second.close() }
            }
        }
    }

    @Test("A piece of a merge, and a claim during it, read as much with 4,000 originals as with 400")
    func costOfPieces() async throws {
        var (pieces, claims): ([Int], [Int]) = ([], [])
        for count in [400, 4000] {
            try await TemporaryFolder.with { folder in
                let path = folder.appending(path: "assay.sqlite").path
                let recording = RecordingDatabase(try SQLiteDatabase(path: path))
                let stopping = StoppingDatabase(recording)
                let world = try await LedgerWorld(stopping)
                _ = try await world.claim("1", customer: "device", try LedgerWorld.signed("1"))
                try await CopiedPurchases.fill(recording, count: count)
                _ = try await world.claim("2", customer: "alice", try LedgerWorld.signed("2"))
                stopping.allow(1)
                try await world.ledger.perform(MergeCustomers(app: "example", customerID: "device", into: "alice"))
                stopping.allow(.max)
                // The caller of a merge does not wait for all pieces.
                for _ in 0..<2 { #expect(try await world.ledger.finishMerges(for: .zero) == 1) }
                let file = try DatabaseQueue(path: path)
                _ = recording.takeCalls()
                _ = try await world.ledger.movePiece(rows: 50)
                pieces.append(try StatementCost(of: recording.takeCalls(), in: file).steps)
                _ = try await world.claim("3", customer: "alice", try LedgerWorld.signed("3"))
                claims.append(try StatementCost(of: recording.takeCalls(), in: file).steps)
                #expect(try await world.entitlement()?.balance == Int64(count + 2))
                try await recording.close()
            }
        }
        print("steps of a piece of a merge: \(pieces), of a claim during it: \(claims)")
        #expect(pieces[1] < pieces[0] * 12 / 10)
        #expect(claims[1] < claims[0] * 12 / 10)
    }

    private static func units(of customer: String, _ world: LedgerWorld) async throws -> Int64 {
        try await world.entitlement(of: customer, environment: .production)?.balance ?? 0
    }

    @Test("A repair finishes the merge in progress first, and changes nothing that is answered")
    func repair() async throws {
        guard TestEngine.ownsTables else { return }
        try await TestEngine.withDatabases { database in
            let merging = try await MergingWorld(database)
            for _ in 0..<3 { _ = try await merging.moveOriginal() }
            let expected = try await merging.answers()
            // A row that the rebuild corrects.
            try await database.write { connection in
                _ = try connection.execute("UPDATE lots SET quantity = quantity + 1 WHERE customer_key = 1", [])
            }
            _ = try await merging.world.ledger.repair()
            #expect(try await !merging.moveOriginal())
            #expect(try await merging.answers() == expected)
            try await merging.world.requireConsistency()
        }
    }
}
