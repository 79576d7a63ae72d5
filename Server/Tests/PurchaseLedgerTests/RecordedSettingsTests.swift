import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import Testing

@Suite("The ledger under recorded settings", .ledger)
struct RecordedSettingsTests {
    var folder: URL { CurrentWorld.opened() }
    let world: LedgerWorld = CurrentWorld.opened()

    @Test("It decides as the latest start did, and records nothing")
    func sameSettings() async throws {
        var app = LedgerWorld.app()
        app.sandboxAccess = .everyone
        let latest = try await world.restarted([app])
        let before = try await latest.ledger.answer(JournalExport(limit: 1000))
        let recorded = try await PurchaseLedger.openRecorded(
            database: world.database, verifier: try LedgerWorld.verifier(), clock: { world.clock.now })
        #expect(recorded.apps == ["example"])
        _ = try await latest.claim("1", try LedgerWorld.signed("1") { $0.environment = "Sandbox" })
        let query = EntitlementsOfCustomer(app: "example", customerID: LedgerWorld.customer)
        #expect(try await recorded.answer(query) == latest.ledger.answer(query))
        #expect(try await recorded.answer(query).entitlements.first?.state == .active)
        #expect(try await latest.ledger.answer(JournalExport(limit: 1000)).count == before.count + 1)
    }

    @Test("A removed app is not among the recorded apps")
    func removedApp() async throws {
        _ = try await world.restarted([RegisteredApp(id: "other", bundleIDs: ["com.example.other"])])
        let recorded = try await PurchaseLedger.openRecorded(
            database: world.database, verifier: PurchaseVerifier(), clock: { world.clock.now })
        #expect(recorded.apps == ["other"])
    }

    @Test("50.2 A product that is registered after many purchases is counted a few at a time, also after a kill")
    func countedInPieces() async throws {
        var before = LedgerWorld.app()
        (before.products[LedgerWorld.coins], before.products[LedgerWorld.pro]) = (nil, nil)
        try await TestEngine.withDatabases(mayBeMigrated: true) { [before] database in
            let world = try await LedgerWorld(database, apps: [before])
            for number in 1...8 {
                let id = "\(number)"
                _ = try await world.claim(id, try LedgerWorld.signed(id) { $0.type = nil })
            }
            // Signed as something else than the settings say: it never counts.
            _ = try await world.claim("9", try LedgerWorld.signed("9", kind: .nonConsumable))
            #expect(try await world.entitlement()?.balance ?? 0 == 0)
            var ledger = world.ledger
            ledger.countedAtOnce = 3
            /// The entries that count, and the balance.
            func counted() async throws -> [Int64?] {
                let entries = try await world.ledger.answer(JournalExport(limit: 1000))
                let answer = try await ledger.answer(
                    EntitlementsOfCustomer(app: "example", customerID: LedgerWorld.customer))
                return [
                    Int64(entries.count { $0.leaf.kind == .purchasesCounted }),
                    answer.entitlements.first { $0.productID == LedgerWorld.coins }?.balance,
                ]
            }
            // The first count ends after the settings and one entry.
            let interrupted = FaultingDatabase(database)
            var stopped = try await PurchaseLedger.openRecorded(
                database: interrupted, verifier: try LedgerWorld.verifier(), clock: { world.clock.now })
            stopped.countedAtOnce = 3
            interrupted.fail([nil, nil, .unreachable])
            let verifier = try LedgerWorld.verifier()
            do {
                stopped = try await stopped.underSettings(apps: [LedgerWorld.app()], verifier: verifier)
                try await stopped.countPurchases()
                Issue.record("the count went on")
            } catch is LedgerStorageError {}
            #expect(try await counted() == [1, 3])
            // What is not counted yet is counted once its evidence arrives again.
            _ = try await world.claim("8", try LedgerWorld.signed("8") { $0.type = nil })
            #expect(try await counted() == [1, 4])
            // The next start has other settings, too. What is left is counted all the same.
            var next = LedgerWorld.app()
            next.products[LedgerWorld.yearly] = nil
            ledger = try await ledger.underSettings(apps: [next], verifier: verifier)
            try await ledger.countPurchases()
            #expect(try await counted() == [3, 8])
            let entries = try await world.ledger.answer(JournalExport(limit: 1000)).count
            ledger = try await ledger.underSettings(apps: [next], verifier: verifier)
            try await ledger.countPurchases()
            #expect(try await world.ledger.answer(JournalExport(limit: 1000)).count == entries)
            try await world.requireConsistency()
        }
    }

    @Test("A key created before the first start is the app's key afterwards, and a rebuild has it", .folder)
    func keyBeforeFirstStart() async throws {
        let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
        let clock = TestClock()
        try await LedgerMigrations.migrate(database, now: 0)
        let early = try await PurchaseLedger.openRecorded(
            database: database, verifier: PurchaseVerifier(), clock: { clock.now })
        let created = try await early.perform(CreateAPIKey(app: "example", name: "", scopes: [.client]))
        let other = try await early.perform(CreateAPIKey(app: "example", name: "", scopes: [.admin]))
        #expect(try await early.perform(RevokeAPIKey(id: other.key.id))?.app == "example")
        let world = try await LedgerWorld(database, clock: clock)
        let text = try #require(APIKeyText(created.text))
        #expect(try await world.ledger.answer(APIKeyLookup(text))?.app == "example")
        #expect(try await world.ledger.audit().findings.isEmpty)
        try await database.close()
    }

    @Test("A name of an app that no leaf can hold is refused", arguments: ["", String(repeating: "a", count: 256)])
    func longName(_ name: String) async throws {
        await #expect(throws: LedgerRefusal.self) {
            try await world.ledger.perform(CreateAPIKey(app: name, name: "", scopes: [.client]))
        }
    }

    @Test("Evidence that is refused now is a finding, and nothing is rebuilt", .enabled(if: TestEngine.ownsTables))
    func refusedEvidence() async throws {
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        let distrusting = try await PurchaseLedger.openRecorded(
            database: world.database, verifier: PurchaseVerifier(), clock: { world.clock.now })
        let kinds = try await refusal(of: distrusting)
        #expect(kinds.contains(.evidenceRefused) && kinds.contains(where: \.isMendedByRebuild))
    }

    /// The findings with which a ledger is not rebuilt.
    private func refusal(of ledger: PurchaseLedger) async throws -> [AuditFinding.Kind] {
        try await TemporaryFolder.with { folder in
            let outcome = try await ledger.rebuild(to: folder.appending(path: "rebuilt.sqlite").path, in: folder)
            #expect(!outcome.isRebuilt)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
            return outcome.report.findings.map(\.kind)
        }
    }

    @Test("Changed evidence is a finding, and nothing is rebuilt", .folder)
    func changedEvidence() async throws {
        let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
        let world = try await LedgerWorld(database)
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        try await database.write { connection in
            try connection.execute("DROP TRIGGER evidence_no_update", [])
            try connection.execute("UPDATE evidence SET content = x'00'", [])
        }
        #expect(try await refusal(of: world.ledger).contains(.evidenceChanged))
        try await database.close()
    }

    @Test("A customer's grants and revocations are listed with the ids that lift them")
    func summary() async throws {
        let ledger = world.ledger
        let grant = try await ledger.perform(
            GrantByHand(app: "example", customerID: "alice", productID: LedgerWorld.pro, reason: "a gift"))
        let revocation = try await ledger.perform(
            RevokeByHand(app: "example", customerID: "alice", .grant(grant), reason: "a mistake"))
        try await ledger.perform(LiftByHand(app: "example", customerID: "alice", id: revocation))
        let summary = try await ledger.answer(CustomerSummary(app: "example", customerID: "alice"))
        #expect(summary.handGrants.map(\.id) == [grant.text, revocation.text])
        #expect(summary.handGrants.map(\.isRevocation) == [false, true])
        #expect(summary.handGrants.last?.revokedGrantID == grant.text)
        #expect(summary.handGrants.map { $0.liftedAt != nil } == [false, true])
        await #expect(throws: LedgerRefusal.self) {
            try await ledger.answer(CustomerSummary(app: "example", customerID: "nobody"))
        }
    }
}
