import EvidenceMint
import Foundation
import LegacyLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Many at once")
struct ConcurrencyTests {
    @Test("32 clients send the same 1,000 claims at once: exactly 1,000 grants", arguments: Engine.allCases)
    func sameClaims(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            // Forty receipts with 25 purchases each; each claim is verified once, and decided 32 times.
            var claims: [ExaminedSubmission] = []
            for receipt in 0..<40 {
                let evidence = try LedgerWorld.evidence(
                    (0..<25).map { number in
                        .consumable(
                            productID: "com.example.app.coins", transactionID: "m\(receipt * 25 + number)",
                            purchaseDate: MintedWorld.moment)
                    })
                for number in 0..<25 {
                    claims.append(
                        world.ledger.examine(world.submission("m\(receipt * 25 + number)", evidence: evidence)))
                }
            }
            let all = claims
            let clock = ContinuousClock()
            let begin = clock.now
            let outcomes = try await withThrowingTaskGroup(of: (granted: Int, replayed: Int).self) { group in
                for client in 0..<32 {
                    group.addTask {
                        var generator = SeededGenerator(seed: UInt64(client))
                        var counts = (granted: 0, replayed: 0)
                        // Eight at a time, as an impatient client sends them.
                        let order = all.shuffled(using: &generator)
                        for start in stride(from: 0, to: order.count, by: 8) {
                            let answers = try await withThrowingTaskGroup(of: PurchaseOutcome.self) { batch in
                                for claim in order[start..<min(start + 8, order.count)] {
                                    batch.addTask { try await world.ledger.write { try $0.record(claim) } }
                                }
                                return try await batch.reduce(into: []) { $0.append($1) }
                            }
                            counts.granted += answers.count { $0.verdict == .accepted && !$0.isReplayed }
                            counts.replayed += answers.count { $0.verdict == .accepted && $0.isReplayed }
                        }
                        return counts
                    }
                }
                return try await group.reduce(into: (granted: 0, replayed: 0)) {
                    $0.granted += $1.granted
                    $0.replayed += $1.replayed
                }
            }
            let duration = clock.now - begin
            #expect(outcomes.granted == 1000)
            #expect(outcomes.replayed == 31_000)
            #expect(try await world.entitlement(of: "alice", to: "com.example.app.coins")?.balance == 1000)
            let report = try await Audit(database).verify()
            #expect(report.findings.isEmpty)
            #expect(report.heads["submissions"]?.count == 32_000)
            #expect(report.evidenceCount == 40)
            print(
                "32 clients, 1,000 claims each: \(outcomes.granted) grants, \(outcomes.replayed) replays, "
                    + "32,000 recorded, in \(duration)")
        }
    }

    @Test("Two customers race for each of 200 purchases: each goes to one of them", arguments: Engine.allCases)
    func rivals(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let evidence = try LedgerWorld.evidence(
                (0..<200).map {
                    .consumable(
                        productID: "com.example.app.coins", transactionID: "r\($0)", purchaseDate: MintedWorld.moment)
                })
            let codes = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<200 {
                    for customer in ["alice", "bob"] {
                        let claim = world.ledger.examine(
                            world.submission("r\(number)", customer: customer, evidence: evidence))
                        group.addTask { try await world.ledger.write { try $0.record(claim) }.code }
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(codes == ["accepted": 200, "already_claimed": 200])
            let balances = try await [
                world.entitlement(of: "alice", to: "com.example.app.coins")?.balance ?? 0,
                world.entitlement(of: "bob", to: "com.example.app.coins")?.balance ?? 0,
            ]
            #expect(balances.reduce(0, +) == 200)
        }
    }

    @Test("Sixteen purchases race for one order: it is paid once", arguments: Engine.allCases)
    func oneOrder(engine: Engine) async throws {
        try await engine.withDatabase { database in
            let world = try await LedgerWorld(database)
            let order = try await world.order(quantity: 1)
            let evidence = try LedgerWorld.evidence(
                (0..<16).map {
                    .consumable(
                        productID: "com.example.app.coins", transactionID: "o\($0)", purchaseDate: MintedWorld.moment)
                })
            let codes = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<16 {
                    let claim = world.ledger.examine(
                        world.submission("o\(number)", customer: nil, order: order.id, evidence: evidence))
                    group.addTask { try await world.ledger.write { try $0.record(claim) }.code }
                }
                return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(codes == ["accepted": 1, "order_already_paid": 15])
            #expect(try await world.entitlement(of: "alice", to: "com.example.app.coins")?.balance == 1)
        }
    }
}
