import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport

/// A database in which every table has rows, sealed and signed, and copies of it that a test changes.
struct FuzzedWorld {
    let folder: URL
    let checkpoint: Checkpoint
    let entryKey: EntryKey
    private let content: DatabaseContent

    /// Creates the database in a folder.
    init(_ folder: URL) async throws {
        self.folder = folder
        let sealed = try await SealedWorld(folder)
        try await Self.fill(sealed.world)
        try await Self.ask(sealed)
        try await sealed.sealing.round()
        // The last orders stay pending, so that no table is empty.
        try await sealed.write(2)
        checkpoint = try sealed.published().checkpoint
        entryKey = sealed.entryKey
        content = try await DatabaseContent(sealed.database)
        try await sealed.database.close()
    }

    /// Every kind of change to a ledger, at least once.
    private static func fill(_ world: LedgerWorld) async throws {
        let ledger = world.ledger
        let once = IdempotentRequest(sender: ["a"], key: "k", method: "POST", path: "/v1/orders", body: [1])
        let order = try await ledger.perform(
            CreateOrder(app: "example", OrderDraft(customerID: "alice", productID: LedgerWorld.coins), once: once)
        ).order
        _ = try await world.claim("1", order: order.id, try LedgerWorld.signed("1"))
        _ = try await ledger.perform(FulfilOrder(app: "example", orderID: order.id))
        let cancelled = try await world.order("bob", product: LedgerWorld.pro)
        _ = try await ledger.perform(CancelOrder(app: "example", orderID: cancelled.id))
        let receipt = try LedgerWorld.receipt(
            (2...5).map { number in
                .consumable(
                    productID: LedgerWorld.coins, transactionID: "\(number)", purchaseDate: MintedWorld.moment,
                    quantity: 3)
            })
        for number in 2...4 { _ = try await world.claim("\(number)", receipt) }
        _ = try await world.claim("2", customer: "mallory", receipt)
        _ = try await world.claim("6", Array("no evidence at all".utf8))
        _ = try await world.claim("12", try LedgerWorld.signed("12") { $0.quantity = 6 })
        _ = try await world.consume(4, "sword")
        _ = try await world.claim("901", product: LedgerWorld.monthly, try LedgerWorld.period("901", from: 0))
        try await world.observe(try LedgerWorld.period("902", from: 30))
        try await world.observe(try renewal())
        _ = try await world.claim("7", customer: "bob", try LedgerWorld.signed("7", product: LedgerWorld.pro))
        _ = try await world.claim("8", customer: "bob", try LedgerWorld.signed("8", product: LedgerWorld.pass))
        try await world.observe(try LedgerWorld.signed("9") { $0.bundleID = "com.example.second" })
        let token = UUID()
        _ = try await ledger.perform(AssignToken(app: "example", customerID: "carol", token: token))
        try await world.observe(try LedgerWorld.signed("10") { $0.appAccountToken = token.uuidString.lowercased() })
        _ = try await ledger.perform(
            MovePurchase(app: "example", transactionID: "4", to: "carol", reason: "wrong account"))
        _ = try await world.claim("11", customer: "anonymous", try LedgerWorld.signed("11"))
        try await ledger.perform(MergeCustomers(app: "example", customerID: "anonymous", into: "bob"))
        let grant = try await ledger.perform(
            GrantByHand(app: "example", customerID: "bob", productID: LedgerWorld.coins, quantity: 4, reason: "gift"))
        _ = try await ledger.perform(
            GrantByHand(app: "example", customerID: "carol", productID: LedgerWorld.pro, reason: "gift"))
        let revocation = try await ledger.perform(
            RevokeByHand(app: "example", customerID: "bob", .grant(grant), reason: "abuse"))
        try await ledger.perform(LiftByHand(app: "example", customerID: "bob", id: revocation))
        _ = try await ledger.perform(
            RevokeByHand(
                app: "example", customerID: "bob", .purchase(transactionID: "7", environment: nil), reason: "abuse"))
        let team = try SeatCountTests.team("960", 2, from: 0) { $0.originalTransactionID = "960" }
        try await world.observe(try MintedWorld.mint(team))
        _ = try await ledger.perform(
            ClaimSeat(
                app: "example", originalTransactionID: "960", customerID: "carol", requestID: "1",
                appTransactionID: "2"))
        try await world.observe(try SeatClaimTests.unclaimSeats(["unclaimed"], on: 0))
        _ = try await ledger.perform(ChangeTester(app: "example", customerID: "dora", isTester: true, reason: nil))
        _ = try await ledger.perform(CreateAPIKey(app: "example", name: "app", scopes: [.client]))
        let key = try await ledger.perform(CreateAPIKey(app: "example", name: "old", scopes: [.admin]))
        _ = try await ledger.perform(RevokeAPIKey(id: key.key.id))
        try await ledger.perform(ProbeReadiness())
        try await deliver(ledger, world.clock.now)
    }

    /// Claims that wait for the App Store, that it decided, and that it confirmed.
    private static func ask(_ sealed: SealedWorld) async throws {
        var app = LedgerWorld.app()
        app.mode = .apple
        let apple = try await LedgerWorld(
            sealed.database, clock: sealed.world.clock, apps: [app], entryKey: sealed.entryKey)
        _ = try await apple.claim("20", try LedgerWorld.coinReceipt(20))
        let decided = try await apple.claim("21", try LedgerWorld.coinReceipt(21))
        try await apple.answer(decided.submissionID, LedgerWorld.agreement())
        app.mode = .both
        let both = try await LedgerWorld(
            sealed.database, clock: sealed.world.clock, apps: [app], entryKey: sealed.entryKey)
        let confirmed = try await both.claim("22", try LedgerWorld.coinReceipt(22))
        try await both.answer(confirmed.submissionID, LedgerWorld.agreement())
        _ = try await sealed.world.restarted([LedgerWorld.app()], entryKey: sealed.entryKey)
    }

    /// A webhook that refused an event.
    private static func deliver(_ ledger: PurchaseLedger, _ now: Timestamp) async throws {
        let owner = [UInt8](repeating: 1, count: 16)
        let taking = LeaseWebhook(app: "example", url: "https://example.com/", owner: owner, beginning: 0)
        let events = try await ledger.answer(OutgoingEvents(app: "example", after: 0, limit: 1))
        guard var lease = try await ledger.perform(taking), let event = events.first else { return }
        lease.cursor = event.key
        let failed = UndeliveredEvent(event, .retry, attempts: 1, firstAt: now, nextAt: now, lastError: "timed_out")
        _ = try await ledger.perform(RecordDeliveries(lease, undelivered: [failed]))
    }

    private static func renewal() throws -> [UInt8] {
        var template = RenewalInfoTemplate()
        template.originalTransactionID = "900"
        template.productID = LedgerWorld.monthly
        template.autoRenewProductID = LedgerWorld.yearly
        template.environment = "Production"
        template.signedDate = MintedWorld.moment.addingTimeInterval(7200)
        return try MintedWorld.mint(template)
    }

    /// Changes a copy of the database, and returns the audit's findings. The triggers are restored before the audit.
    ///
    /// - Parameter computesHashes: whether every hash that needs no key is recomputed.
    /// - Returns: the codes of the findings; `nil` if the schema refused the change or nothing was changed.
    func findings(
        after change: @escaping @Sendable (any LedgerConnection) throws -> Int, computesHashes: Bool,
        using triggers: [Trigger]
    ) async throws -> Set<String>? {
        let file = folder.appending(path: "copy-\(UUID().uuidString).sqlite")
        try FileManager.default.copyItem(at: folder.appending(path: "assay.sqlite"), to: file)
        defer {
            // Leftover copies in the temporary folder do no harm.
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
        }
        let database = try SQLiteDatabase(path: file.path)
        let isChanged = try await Self.isChanged(database, triggers) { connection in
            let changed = try change(connection)
            if changed > 0, computesHashes { try ForgedHashes.computeAgain(connection) }
            return changed
        }
        // Recomputing the hashes undoes the change of a hash.
        let isMended = computesHashes && isChanged ? try await DatabaseContent(database) == content : false
        let found = isChanged && !isMended ? try await audit(database) : nil
        try await database.close()
        return found
    }

    /// A trigger of the schema.
    struct Trigger: Sendable {
        let name: String
        let sql: String
    }

    private static func isChanged(
        _ database: SQLiteDatabase, _ triggers: [Trigger],
        _ change: @escaping @Sendable (any LedgerConnection) throws -> Int
    ) async throws -> Bool {
        do {
            return try await database.write { connection in
                for trigger in triggers { try connection.execute("DROP TRIGGER \(trigger.name)", []) }
                let changed = try change(connection)
                for trigger in triggers { try connection.execute(trigger.sql, []) }
                return changed > 0
            }
        } catch is LedgerStorageError {
            // A constraint, or a value of a type that the column cannot hold.
            return false
        }
    }

    /// The findings of `assay audit verify --evidence`, with the keys.
    func audit(_ database: SQLiteDatabase) async throws -> Set<String> {
        let clock = TestClock()
        clock.advance(days: 1)
        let ledger: PurchaseLedger
        do {
            ledger = try await PurchaseLedger.openRecorded(
                database: database, verifier: try LedgerWorld.verifier(), entryKey: entryKey, clock: { clock.now })
        } catch let error as LedgerStorageError {
            // The command ends with the code.
            return [error.kind.rawValue]
        }
        let log = try await ledger.auditLog([checkpoint])
        let report = try await ledger.audit(in: folder)
        return Set(log.findings.map(\.kind.rawValue) + report.findings.map(\.kind.rawValue))
    }
}
