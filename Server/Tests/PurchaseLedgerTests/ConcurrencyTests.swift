import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Concurrent writers", .tags(.everyEngine))
struct ConcurrencyTests {
    var folder: URL { CurrentWorld.opened() }
    var world: LedgerWorld { CurrentWorld.opened() }

    /// The number of claims that 32 writers share; `dev/torture.sh postgres` uses 1,000.
    private static let sharedClaims =
        ProcessInfo.processInfo.environment["ASSAY_SHARED_CLAIMS"].flatMap { Int($0) } ?? 100

    @Test("32 writers submit the same claims: each is granted once, and every other answer is a replay", .ledger)
    func sameClaims() async throws {
        let shared = Self.sharedClaims
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
        #expect(counts.0 == shared && counts.1 == 31 * shared)
        #expect(try await world.entitlement()?.balance == Int64(shared))
        #expect(try await world.events().count { $0 == "granted" } == shared)
    }

    @Test("Two customers race for each of 100 purchases: each goes to one of them", .ledger)
    func rivals() async throws {
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

    @Test("Sixteen purchases race for one order: it is paid once, and the customer has all sixteen", .ledger)
    func oneOrder() async throws {
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

    @Test("Two connections to one file, as two processes have them: each purchase is granted once", .folder)
    func twoProcesses() async throws {
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
                let pro = try LedgerWorld.signed("2", product: LedgerWorld.pro)
                #expect(try await older.claim("2", product: LedgerWorld.pro, pro).code == "product_unknown")
                _ = try await newer.claim("3", try LedgerWorld.signed("3"))
                #expect(older.ledger.settings(of: "example")?.bundleIDs.count == 2)
                #expect(try await newer.ledger.audit().findings == [])
                for world in [older, newer] { try await world.database.close() }
            }
        }
    }
}

/// Two customers of one Apple Account, whose purchases have no account tokens.
@Suite("The event claim_conflict")
struct ClaimConflictTests {
    var world: LedgerWorld { CurrentWorld.opened() }

    private static func conflicts(_ world: LedgerWorld) async throws -> [EventContent] {
        try await world.ledger.answer(EventList(app: "example", limit: 1000)).map(\.content)
            .filter { $0.type == "claim_conflict" }
    }

    private static func buy(_ world: LedgerWorld, _ id: String) async throws {
        #expect(try await world.claim(id, try LedgerWorld.signed(id)).code == "accepted")
    }

    @Test("Claims and restores tell the operator once for each pair of customers, with both names", .ledger)
    func pairs() async throws {
        for id in ["1", "2", "3"] { try await Self.buy(world, id) }
        let refused = try await world.claim("1", customer: "bob", try LedgerWorld.signed("1"))
        #expect(refused.code == "already_claimed")
        let told = try #require(try await Self.conflicts(world).first)
        #expect(told.customerID == "bob" && told.ownerCustomerID == "alice" && told.formerCustomerID == nil)
        #expect(told.transactionID == "1" && told.orderID == nil)
        #expect(try await world.claim("2", customer: "bob", try LedgerWorld.signed("2")).code == "already_claimed")
        let restore = RestoreSubmission(
            app: "example", customerID: "bob", evidence: [try LedgerWorld.signed("2"), try LedgerWorld.signed("3")])
        _ = try await world.ledger.restore(restore)
        #expect(try await Self.conflicts(world).count == 1)
        let other = RestoreSubmission(
            app: "example", customerID: "carol",
            evidence: [try LedgerWorld.signed("1"), try LedgerWorld.signed("3")])
        _ = try await world.ledger.restore(other)
        #expect(try await Self.conflicts(world).map(\.customerID) == ["bob", "carol"])
        // The other way round is another pair.
        #expect(try await world.claim("4", customer: "bob", try LedgerWorld.signed("4")).code == "accepted")
        #expect(try await world.claim("4", try LedgerWorld.signed("4")).code == "already_claimed")
        #expect(try await Self.conflicts(world).map(\.ownerCustomerID) == ["alice", "alice", "bob"])
    }

    @Test("What is no conflict of customers tells none: own copies, account tokens, and claims that transfer")
    func none() async throws {
        try await LedgerWorld.with({ $0.transfer = .move }) { world in
            let token = UUID()
            try await world.assign(token, to: "alice")
            let named = try LedgerWorld.signed("1") { $0.appAccountToken = token.uuidString.lowercased() }
            #expect(try await world.claim("1", named).code == "accepted")
            #expect(try await world.claim("1", customer: "bob", named).code == "app_account_token_mismatch")
            let pro = try LedgerWorld.signed("2", product: LedgerWorld.pro)
            #expect(try await world.claim("2", product: LedgerWorld.pro, pro).code == "accepted")
            #expect(try await world.claim("2", product: LedgerWorld.pro, customer: "bob", pro).code == "accepted")
            try await Self.buy(world, "3")
            let copy = try LedgerWorld.signed("4") { $0.originalTransactionID = "3" }
            #expect(try await world.claim("4", copy).claimedBy == .restoredCopy)
            #expect(try await Self.conflicts(world).isEmpty)
        }
    }

    @Test("After erasures, transfers and merges of either customer, the events are those of a rebuild")
    func erased() async throws {
        for erased in ["alice", "bob"] {
            for isMoved in [false, true] {
                try await LedgerWorld.with { world in
                    for id in ["1", "2"] { try await Self.buy(world, id) }
                    for id in ["1", "2"] {
                        _ = try await world.claim(id, customer: "bob", try LedgerWorld.signed(id))
                    }
                    if isMoved {
                        try await world.move("2", to: "carol")
                        _ = try await world.claim("2", customer: "bob", try LedgerWorld.signed("2"))
                        try await world.merge("carol", into: "dora")
                        _ = try await world.claim("2", customer: "bob", try LedgerWorld.signed("2"))
                    }
                    try await world.requireConsistency()
                    try await world.erase(erased)
                    _ = try await world.claim("2", customer: "bob", try LedgerWorld.signed("2"))
                    _ = try await world.claim("1", customer: "bob", try LedgerWorld.signed("1"))
                }
            }
        }
    }
}
