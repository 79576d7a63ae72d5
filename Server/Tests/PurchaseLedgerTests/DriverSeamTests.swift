import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import Synchronization
import TestSupport
import Testing

extension Trait where Self == WorldTrait<LedgerWorld> {
    /// On a database that fails as it is told to.
    fileprivate static var faulting: Self {
        WorldTrait { body in
            try await TemporaryFolder.with { folder in
                let database = FaultingDatabase(try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path))
                let world = try await LedgerWorld(database)
                try await CurrentWorld.with(database) { try await body(world) }
                try await world.requireConsistency()
                try await database.close()
            }
        }
    }
}

/// How the ledger handles the errors of a database on another machine.
@Suite("The driver seam", .tags(.everyEngine), .faulting)
struct DriverSeamTests {
    private let world: LedgerWorld = CurrentWorld.opened()
    private let database: FaultingDatabase = CurrentWorld.opened()

    @Test("A claim that conflicts with other writes is retried, and granted once")
    func conflicts() async throws {
        let evidence = try LedgerWorld.signed("1")
        database.fail([.conflict, .conflict, .conflict])
        let outcome = try await world.claim("1", evidence)
        #expect(outcome.code == "accepted" && !outcome.isReplayed)
        #expect(database.writes.withLock { $0 } == 4)
        #expect(try await world.entitlement()?.balance == 1)
    }

    @Test("A claim that conflicts with other writes each time fails with the conflict, and nothing is written")
    func limit() async throws {
        let evidence = try LedgerWorld.signed("1")
        database.fail(Array(repeating: .conflict, count: 1000))
        #expect(await storageFailure { try await world.claim("1", evidence) } == .conflict)
        #expect((2...20).contains(database.writes.withLock { $0 }))
        database.fail([])
        #expect(try await world.submissions().isEmpty)
        #expect(try await world.claim("1", evidence).isReplayed == false)
    }

    @Test("A commit that was stored before the connection broke returns its own result, not that of a replay")
    func storedCommit() async throws {
        let evidence = try LedgerWorld.signed("1")
        let order = try await world.order()
        database.fail([.storedCommit])
        let outcome = try await world.claim("1", order: order.id, evidence)
        #expect(outcome.code == "accepted" && !outcome.isReplayed)
        let submissions = try await world.submissions()
        #expect(submissions.map(\.submissionID) == [outcome.submissionID.text])
        #expect(try await world.order(order.id).status == .paid)
        #expect(try await world.entitlement()?.balance == 1)
        database.fail([.storedCommit])
        let consumed = try await world.consume(1, "a")
        #expect(consumed.balance == 0 && !consumed.replayed)
        database.fail([.storedCommit])
        #expect(try await world.order().status == .created)
        #expect(try await world.events().filter { $0.hasPrefix("order") }.count == 3)
    }

    @Test("A commit that was lost with the connection is written by the next attempt")
    func lostCommit() async throws {
        database.fail([.lostCommit, .conflict, .lostCommit])
        let outcome = try await world.claim("1", try LedgerWorld.signed("1"))
        #expect(outcome.code == "accepted" && !outcome.isReplayed)
        #expect(try await world.submissions().map(\.submissionID) == [outcome.submissionID.text])
        #expect(try await world.entitlement()?.balance == 1)
    }

    @Test(
        "While the outcome of a commit is unknown, no error says that nothing was written",
        arguments: [FaultingDatabase.Fault.unreachable, .conflict, .lostCommit])
    func unresolved(fault: FaultingDatabase.Fault) async throws {
        let evidence = try LedgerWorld.signed("1")
        database.fail([.storedCommit] + Array(repeating: fault, count: 1000))
        #expect(await storageFailure { try await world.claim("1", evidence) } == .outcomeUnknown)
        database.fail([])
        // The customer asks again, and the claim is answered as usual.
        #expect(try await world.claim("1", evidence).isReplayed)
        #expect(try await world.entitlement()?.balance == 1)
    }

    @Test(
        "Text is compared as bytes: names that Unicode takes for equal are two customers, in the order of their bytes")
    func textAsBytes() async throws {
        let names = ["\u{E9}", "e\u{301}", "E\u{301}", "Z", "a"]
        for (number, name) in names.enumerated() {
            _ = try await world.claim("\(number)", customer: name, try LedgerWorld.signed("\(number)"))
        }
        for name in names { #expect(try await world.entitlement(of: name)?.balance == 1) }
        let stored = try await world.database.read(.keys) { connection in
            try connection.rows("SELECT name FROM customers ORDER BY name", []).map(\.values)
        }
        let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        #expect(stored.count == sorted.count)
        for (row, name) in zip(stored, sorted) {
            guard case .text(let text)? = row.first else {
                Issue.record("a name is not text")
                continue
            }
            #expect(Array(text.utf8) == Array(name.utf8))
        }
    }
}
