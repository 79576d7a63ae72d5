import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Concurrent writers", .tags(.everyEngine))
struct ConcurrencyTests {
    /// The number of claims that 32 writers share; `dev/torture.sh postgres` uses 1,000.
    private static let sharedClaims =
        ProcessInfo.processInfo.environment["ASSAY_SHARED_CLAIMS"].flatMap { Int($0) } ?? 100

    @Test("32 writers submit the same claims: each is granted once, and every other answer is a replay")
    func sameClaims() async throws {
        let shared = Self.sharedClaims
        try await LedgerWorld.with { world in
            var claims: [ExaminedSubmission] = []
            for number in 0..<shared {
                let id = "\(5000 + number)"
                claims.append(world.ledger.examine(world.submission(id, try LedgerWorld.signed(id))))
            }
            let all = claims
            let counts = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
                for writer in 0..<32 {
                    group.addTask {
                        var counts = (0, 0)
                        for offset in all.indices {
                            let claim = all[(offset + writer * 31) % all.count]
                            let outcome = try await world.ledger.perform(ClaimPurchase(claim))
                            if outcome.verdict == .accepted {
                                if outcome.isReplayed { counts.1 += 1 } else { counts.0 += 1 }
                            }
                        }
                        return counts
                    }
                }
                return try await group.reduce(into: (0, 0)) { $0 = ($0.0 + $1.0, $0.1 + $1.1) }
            }
            #expect(counts.0 == shared)
            #expect(counts.1 == 31 * shared)
            #expect(try await world.entitlement()?.balance == Int64(shared))
            #expect(try await world.events().count { $0 == "granted" } == shared)
        }
    }

    @Test("Two customers race for each of 100 purchases: each goes to one of them")
    func rivals() async throws {
        try await LedgerWorld.with { world in
            let codes = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<100 {
                    let id = "\(6000 + number)"
                    let evidence = try LedgerWorld.signed(id)
                    for customer in ["alice", "bob"] {
                        group.addTask { try await world.claim(id, customer: customer, evidence).code }
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(codes == ["accepted": 100, "already_claimed": 100])
        }
    }

    @Test("Sixteen purchases race for one order: it is paid once, and the customer has all sixteen")
    func oneOrder() async throws {
        try await LedgerWorld.with { world in
            let order = try await world.order()
            let codes = try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<16 {
                    let id = "\(8000 + number)"
                    let evidence = try LedgerWorld.signed(id)
                    group.addTask { try await world.claim(id, order: order.id, evidence).code }
                }
                return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(codes == ["accepted": 1, "order_already_paid": 15])
            #expect(try await world.entitlement()?.balance == 16)
        }
    }

    @Test("Two connections to one file, as two processes have them: each purchase is granted once")
    func twoProcesses() async throws {
        try await TemporaryFolder.with { folder in
            let path = folder.appending(path: "assay.sqlite").path
            let first = try await LedgerWorld(try SQLiteDatabase(path: path))
            let second = try await LedgerWorld(try SQLiteDatabase(path: path), clock: first.clock)
            let granted = try await withThrowingTaskGroup(of: Int.self) { group in
                for (writer, world) in [first, second].enumerated() {
                    group.addTask {
                        var granted = 0
                        for number in 0..<60 {
                            let id = "\(7000 + (number + writer * 30) % 60)"
                            let outcome = try await world.claim(id, try LedgerWorld.signed(id))
                            if outcome.verdict == .accepted, !outcome.isReplayed { granted += 1 }
                        }
                        return granted
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(granted == 60)
            #expect(try await first.entitlement()?.balance == 60)
            #expect(try await second.entitlement()?.balance == 60)
            try await first.requireConsistency()
            try await second.database.close()
            try await first.database.close()
        }
    }

    @Test("A server with older settings than those last recorded decides by the recorded ones, and the audit is clean")
    func olderSettings() async throws {
        for engine in TestEngine.chosen {
            try await engine.withDatabase { open in
                let older = try await LedgerWorld(try open())
                var app = LedgerWorld.app()
                (app.bundleIDs, app.products[LedgerWorld.pro]) = (["com.example.app", "com.example.second"], nil)
                let newer = try await LedgerWorld(try open(), clock: older.clock, apps: [app])
                // Its first write finds that its settings are older; the examination was made before that.
                let second = try LedgerWorld.signed("1") { $0.bundleID = "com.example.second" }
                #expect(try await older.claim("1", second).code == "accepted")
                let pro = try LedgerWorld.signed("2", product: LedgerWorld.pro, kind: .nonConsumable)
                #expect(try await older.claim("2", product: LedgerWorld.pro, pro).code == "product_unknown")
                _ = try await newer.claim("3", try LedgerWorld.signed("3"))
                #expect(older.ledger.settings(of: "example")?.bundleIDs.count == 2)
                #expect(try await newer.ledger.audit().findings == [])
                for world in [older, newer] { try await world.database.close() }
            }
        }
    }
}
