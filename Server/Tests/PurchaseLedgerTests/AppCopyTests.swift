import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// `AppCopy`: one app moves into a ledger of its own, and the others go on.
@Suite("An app moves into a ledger of its own", .tags(.everyEngine))
struct AppCopyTests {
    private static let place = "https://game.example.com"
    private static let hook = "https://example.com/hook"
    private static let owner = [UInt8](repeating: 7, count: 16)
    private static let otherCoins = "com.example.other.coins"

    /// Ends a move after a step, as `kill -9` does.
    private struct Killed: Error {}

    /// A ledger of two apps with its keys.
    private struct Source {
        let folder: URL
        let world: LedgerWorld
        let entryKey: EntryKey
        let sealing: LogSealing
        let database: any LedgerDatabase

        func path(_ name: String) -> String { folder.appending(path: name).path }

        func copy(_ ledger: PurchaseLedger? = nil) -> AppCopy {
            AppCopy(of: "example", from: ledger ?? world.ledger, keyFile: path("entries.key"), folder: folder)
        }

        func checkpoint() async throws -> Checkpoint {
            try await sealing.round()
            return try #require(try CheckpointSigner.lastSigned(keyFile: path("log.key")).checkpoint?.checkpoint)
        }

        /// Moves the app to a file.
        ///
        /// - Parameter reached: called after each step.
        @discardableResult
        func move(
            to target: String = "game.sqlite", _ copy: AppCopy? = nil, accepting differences: Int = 0,
            reached: (AppCopy.Step) async throws -> Void = { _ in }
        ) async throws -> AppCopy.Outcome? {
            let database = try SQLiteDatabase(path: path(target))
            do {
                let outcome = try await (copy ?? self.copy()).run(
                    to: database, origin: "example.com/game", place: AppCopyTests.place, accepting: differences,
                    sign: { try await checkpoint() }, reached: reached)
                try await database.close()
                return outcome
            } catch {
                try await database.close()
                throw error
            }
        }

        func moveKilled(after step: AppCopy.Step, accepting differences: Int = 0) async {
            let error = await failure(Killed.self) {
                try await move(accepting: differences) { if $0 == step { throw Killed() } }
            }
            #expect(error != nil, "\(step)")
        }

        /// The temporary files of a move.
        func left() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("assay-") }
        }

        /// Changes a row of SQLite as an attacker with write access would.
        func tamper(_ sql: String) async throws {
            try await database.write { connection in
                for table in ["journal", "log_entries"] {
                    for rule in ["no_update", "no_delete"] {
                        try connection.execute("DROP TRIGGER IF EXISTS \(table)_\(rule)", [])
                    }
                }
                #expect(try connection.execute(sql, []) == 1)
            }
        }

        func count(_ sql: String) async throws -> Int { try await AppCopyTests.count(sql, database) }

        func lease(_ ledger: PurchaseLedger? = nil) async throws -> WebhookLease? {
            let (ledger, hook, owner) = (ledger ?? world.ledger, AppCopyTests.hook, AppCopyTests.owner)
            let vacancy = WebhookVacancy(app: "example", url: hook, owner: owner)
            guard let newest = try await ledger.answer(vacancy) else { return nil }
            return try await ledger.perform(
                LeaseWebhook(app: "example", url: hook, owner: owner, beginning: newest))
        }

        /// A customer of the other app sends evidence.
        func sendElsewhere(_ transaction: String, _ evidence: [UInt8], to server: LedgerWorld? = nil) async throws {
            var stranger = PurchaseSubmission(app: "other")
            (stranger.keyID, stranger.evidence) = ("0123456789abcdef", evidence)
            (stranger.claim.customerID, stranger.claim.transactionID) = ("mallory", transaction)
            #expect(try await (server ?? world).ledger.submit(stranger).code != "accepted")
            world.clock.advance(seconds: 60)
        }

        func buyElsewhere(_ number: Int) async throws {
            var submission = PurchaseSubmission(app: "other")
            let evidence = try AppCopyTests.elsewhere("other \(number)")
            (submission.keyID, submission.evidence) = ("0123456789abcdef", evidence)
            submission.claim.customerID = "somebody"
            submission.claim.transactionID = "other \(number)"
            submission.claim.productID = AppCopyTests.otherCoins
            #expect(try await world.ledger.submit(submission).code == "accepted")
        }

        /// The entries of the app, as rows.
        func entries() async throws -> [LedgerRow] { try await AppCopyTests.entries(database, "example") }
    }

    private static func elsewhere(_ transaction: String) throws -> [UInt8] {
        try LedgerWorld.signed(transaction, product: otherCoins) { $0.bundleID = "com.example.other" }
    }

    private static func entries(_ database: any LedgerDatabase, _ app: String) async throws -> [LedgerRow] {
        try await database.read(.lists) { connection in
            try connection.rows(
                """
                SELECT entry_key, entry_id, leaf, salt, details, customer_key, order_key, transaction_key, evidence_key,
                mac FROM journal WHERE app_key = (SELECT app_key FROM apps WHERE name = ?1) AND kind <> 43
                ORDER BY entry_key
                """, [.text(app)])
        }
    }

    private static func count(_ sql: String, _ database: any LedgerDatabase) async throws -> Int {
        try await database.read(.lists) { try $0.rows(sql, []) }.count
    }

    private static func other() -> RegisteredApp {
        var other = RegisteredApp(id: "other", bundleIDs: ["com.example.other"])
        other.products = [otherCoins: RegisteredProduct(kind: .consumable)]
        return other
    }

    private static func withSource(isWhole: Bool = true, _ body: (Source) async throws -> Void) async throws {
        let apps = [LedgerWorld.app(), other()]
        try await TestEngine.withDatabases(mayBeMigrated: true) { database in
            try await TemporaryFolder.with { folder in
                let entryKey = try EntryKey.openOrCreate(at: folder.appending(path: "entries.key").path)
                let signing = folder.appending(path: "log.key").path
                try CheckpointSigner.createKey(at: signing, origin: "example.com/assay")
                let world = try await LedgerWorld(database, apps: apps, entryKey: entryKey)
                let sealing = try LogSealing(ledger: world.ledger, signer: try CheckpointSigner(keyFile: signing))
                try await body(
                    Source(folder: folder, world: world, entryKey: entryKey, sealing: sealing, database: database))
                // What stays behind is still what its record gives.
                if isWhole { try await world.requireConsistency() }
            }
        }
    }

    /// Calls the body with the new ledger, as its server opens it; at the end its record gives it.
    private static func withTarget(
        _ source: Source, _ name: String = "game.sqlite", _ body: (LedgerWorld) async throws -> Void
    ) async throws {
        let database = try SQLiteDatabase(path: source.path(name))
        let world = try await LedgerWorld(database, clock: source.world.clock, entryKey: source.entryKey)
        try await body(world)
        try await LogSealing(ledger: world.ledger, signer: nil).round()
        let log = try await world.ledger.auditLog([])
        #expect(log.findings == [] && log.pending.count == 0)
        #expect(log.continuations.contains { $0.contains("the app example, which moved out of example.com/assay") })
        try await world.requireConsistency()
        try await database.close()
    }

    @Test("Numbers, rights and events are the same in the new ledger, while another app buys and the app is closed")
    func moves() async throws {
        try await Self.withSource { source async throws in
            let world = source.world
            var generator = SeededGenerator(seed: 11)
            var orders: [Order] = []
            for step in 0..<60 {
                do {
                    try await RebuildTests().step(step, world, &orders, &generator, isErasing: true)
                } catch is LedgerRefusal {
                    // A refusal writes nothing.
                }
                world.clock.advance(seconds: 60)
                if step % 4 == 0 { try await source.buyElsewhere(step) }
            }
            let bought = try await world.claim("77", customer: "zoe", try LedgerWorld.signed("77"))
            // Only the hashes in an entry name refused pieces of a restore, also when their customer was erased.
            for (customer, number) in [("xenia", "91"), ("wanda", "92")] {
                let forged = try ["3", "4"].map { try LedgerWorld.signed(number + $0).dropLast(8) + "AAAAAAAA".utf8 }
                #expect(
                    try await world.restore(of: customer, [try LedgerWorld.signed(number)] + forged.map(Array.init))
                        .refused.count == 2)
                world.clock.advance(seconds: 60)
            }
            try await world.erase("xenia")
            #expect(try await source.count("SELECT 1 FROM journal WHERE kind = 48") == 2)
            let early = try await source.checkpoint()
            let (rights, events) = (try await world.entitlements(of: "zoe"), try await world.events())
            var (stopped, buying) = ([LedgerRow](), Task {})
            let outcome = try await source.move { step in
                guard step == .stopped else { return }
                stopped = try await source.entries()
                // The app is closed for whoever asks the old servers, and the other app is not.
                for write in [
                    { _ = try await world.claim("78", customer: "zoe", try LedgerWorld.signed("78")) },
                    { _ = try await world.observe(try LedgerWorld.signed("77") { $0.refund(at: MintedWorld.moment) }) },
                    { _ = try await world.restore(of: "zoe", [try LedgerWorld.signed("77")]) },
                    { _ = try await world.order("zoe") },
                    { _ = try await world.ledger.perform(CreateAPIKey(app: "example", name: "", scopes: [.admin])) },
                ] as [() async throws -> Void] {
                    #expect(await storageFailure { try await write() } == .appMoved)
                }
                buying = Task {
                    do {
                        for number in 100..<130 { try await source.buyElsewhere(number) }
                    } catch { Issue.record(error) }
                }
            }
            await buying.value
            #expect(try await source.entries().count == stopped.count)
            #expect(outcome?.differences == 0 && outcome?.leaves == Int64(stopped.count) + 2)
            #expect(try source.left() == [])
            try await Self.withTarget(source) { target async throws in
                let found = try await Self.entries(target.database, "example")
                #expect(found.count == stopped.count && zip(found, stopped).allSatisfy { $0.values == $1.values })
                let numbers = found.compactMap { if case .integer(let number) = $0.values[0] { number } else { nil } }
                #expect(zip(numbers, numbers.dropFirst()).contains { $1 > $0 + 1 }, "the other app left gaps")
                #expect(try await target.entitlements(of: "zoe") == rights)
                #expect(try await target.events() == events)
                // The same request, repeated at the new servers, is the same claim.
                let again = try await target.claim("77", customer: "zoe", try LedgerWorld.signed("77"))
                #expect(again.isReplayed && again.transactionID == bought.transactionID)
                try await target.observe(
                    try LedgerWorld.signed("77") { $0.refund(at: MintedWorld.moment.addingTimeInterval(7200)) })
                #expect(try await target.entitlement(of: "zoe")?.balance == 0)
                #expect(
                    try await target.claim("78", customer: "zoe", try LedgerWorld.signed("78")).code == "accepted")
            }
            // An auditor of the old log finds it unchanged.
            #expect(try await world.ledger.auditLog([early, source.checkpoint()]).findings == [])
            try await source.buyElsewhere(200)
        }
    }

    @Test("Whatever apps send of each other's purchases, the new ledger has what its record gives, and delivers on")
    func crossed() async throws {
        try await Self.withSource { source async throws in
            let world = source.world
            var lease = try #require(try await source.lease())
            // A customer of this app sends a purchase of the other one.
            let foreign = try Self.elsewhere("601")
            #expect(
                try await world.claim("601", product: Self.otherCoins, customer: "zoe", foreign).code != "accepted")
            var newest: Int64?
            for number in ["501", "503"] {
                let bought = try await world.claim(number, customer: "zoe", try LedgerWorld.signed(number))
                #expect(bought.code == "accepted")
                world.clock.advance(seconds: 60)
                // That it was refunded is known from the other app alone.
                let known = try await world.ledger.answer(EventList(app: "example", limit: 100)).last
                newest = newest ?? known?.cursor
                let refunded = MintedWorld.moment.addingTimeInterval(7200)
                try await source.sendElsewhere(number, try LedgerWorld.signed(number) { $0.refund(at: refunded) })
            }
            try await source.sendElsewhere("502", try LedgerWorld.signed("502"))
            // So is the refund of a customer who is erased, whose events stay.
            _ = try await world.claim("505", customer: "yves", try LedgerWorld.signed("505"))
            let late = try LedgerWorld.signed("505") { $0.refund(at: MintedWorld.moment.addingTimeInterval(7200)) }
            try await source.sendElsewhere("505", late)
            try await world.erase("yves")
            // Both apps get the same forgeries, and the other one erases who sent them.
            let forged = try ["1", "2"].map { Array(try LedgerWorld.signed($0).dropLast(8) + "AAAAAAAA".utf8) }
            #expect(try await world.restore(of: "wanda", forged).refused.count == 2)
            _ = try await world.ledger.restore(RestoreSubmission(app: "other", customerID: "wim", evidence: forged))
            _ = try await world.ledger.perform(EraseCustomer(app: "other", customerID: "wim", reason: "of a test"))
            #expect(try await source.count("SELECT 1 FROM evidence WHERE content IS NULL") >= 2)
            // Only the other app sent this receipt of the app.
            let receipt = try MintedWorld.mint(
                .production(
                    bundleID: "com.example.app", creationDate: MintedWorld.moment,
                    purchases: [
                        .nonConsumable(
                            productID: LedgerWorld.pro, transactionID: "504", purchaseDate: MintedWorld.moment)
                    ]))
            try await source.sendElsewhere("504", Array(Data(receipt).base64EncodedString().utf8))
            #expect(try await source.count("SELECT 1 FROM app_receipts") == 1)
            // The first refund could not be delivered, and what is after it waits behind it.
            let events = try await world.ledger.answer(OutgoingEvents(app: "example", after: 0, limit: 100))
            let first = try #require(events.firstIndex { $0.key > newest ?? .max })
            lease.cursor = try #require(events.last?.key)
            let failed = UndeliveredEvent(
                events[first], .retry, attempts: 1, firstAt: world.clock.now,
                nextAt: world.clock.now, lastError: "timed_out")
            let waiting = events[(first + 1)...].map { UndeliveredEvent(waiting: $0) }
            #expect(try await world.ledger.perform(RecordDeliveries(lease, undelivered: [failed] + waiting)) != nil)
            // What differs is found before the app is closed, and has to be accepted.
            let refused = try #require(await failure(CopyError.self) { try await source.move() })
            let count = try #require(refused.detail.split(separator: " ").last.flatMap { Int($0) })
            #expect(refused.code == .appDiffers && count > 0, "\(refused)")
            #expect(try await source.copy().moved() == nil)
            #expect(try source.left() == [])
            await source.moveKilled(after: .written, accepting: count)
            let later = await failure(CopyError.self) { try await source.move(accepting: count - 1) }
            #expect(later?.detail.hasSuffix("--accept-differences \(count)") == true)
            #expect(try #require(try await source.move(accepting: count)).differences == count)
            let last = try #require(events.last?.key)
            try await Self.withTarget(source) { target async throws in
                #expect(try await Self.count("SELECT 1 FROM app_receipts", target.database) == 0)
                #expect(try await target.entitlement(of: "zoe")?.balance == 2)
                let lease = try #require(try await source.lease(target.ledger))
                let due = try await target.ledger.answer(DueDeliveries(app: "example", lease, limit: 100))
                let kept = try await target.ledger.answer(OutgoingEvents(app: "example", after: 0, limit: 100))
                #expect(!due.isEmpty && Set(kept.map(\.key)).isSubset(of: events.map(\.key)))
                #expect(kept.count < events.count)
                #expect(lease.cursor == kept.last?.key)
                // A reader goes on with the cursor that the old servers gave it.
                #expect(try await target.ledger.answer(EventList(app: "example", after: last, limit: 100)).isEmpty)
                let ahead = await failure(LedgerRefusal.self) {
                    try await target.ledger.answer(EventList(app: "example", after: last + 1_000_000, limit: 100))
                }
                #expect(ahead?.code == .cursorAhead)
                #expect(
                    try await target.claim("502", customer: "yan", try LedgerWorld.signed("502")).code == "accepted")
                #expect(try await !target.ledger.answer(EventList(app: "example", after: last, limit: 100)).isEmpty)
                let new = try await target.ledger.answer(OutgoingEvents(app: "example", after: lease.cursor, limit: 1))
                #expect(!new.isEmpty)
            }
        }
    }

    @Test("Servers that start without the app, or with other settings of it, leave what remains as its record gives it")
    func removed() async throws {
        try await Self.withSource { source async throws in
            _ = try await source.world.claim("801", customer: "zoe", try LedgerWorld.signed("801"))
            try await source.move()
            var changed = LedgerWorld.app()
            changed.products = [:]
            for (transaction, apps) in [("802", [Self.other()]), ("803", [changed, Self.other()])] {
                let server = try await source.world.restarted(apps, entryKey: source.entryKey)
                let evidence = try LedgerWorld.signed(transaction)
                #expect(await storageFailure { try await server.observe(evidence) } == .appMoved)
                try await source.sendElsewhere(transaction, evidence, to: server)
                try await server.requireConsistency()
            }
        }
    }

    @Test(
        "An entry or a leaf that is deleted after the audit is missed",
        arguments: ["DELETE FROM journal WHERE entry_key = 6", "DELETE FROM log_entries WHERE entry_key = 6"])
    func deleted(sql: String) async throws {
        try await Self.withSource(isWhole: false) { source async throws in
            guard source.database is SQLiteDatabase else { return }
            for number in 0..<5 { _ = try await source.world.claim("\(number)", try LedgerWorld.signed("\(number)")) }
            let found = await failure(CopyError.self) {
                try await source.move { if $0 == .signed { try await source.tamper(sql) } }
            }
            #expect(found?.code == .logDiffers)
            #expect(try source.left() == [])
        }
    }

    @Test(
        "Killed after any step, the same move finishes, and no other target is ever opened",
        arguments: AppCopy.Step.allCases)
    func interrupted(step: AppCopy.Step) async throws {
        try await Self.withSource { source async throws in
            let world = source.world
            let held = try #require(try await source.lease())
            _ = try await world.claim("80", customer: "zoe", try LedgerWorld.signed("80"))
            try await source.buyElsewhere(1)
            await source.moveKilled(after: step)
            let isFinished = step == .finished || step == .opened
            #expect(try await source.copy().moved()?.isFinished == (step == .checked ? nil : isFinished))
            // Nothing of a delivery that was on its way is recorded here: it is repeated there.
            let isStopped = step != .checked
            #expect(try await (world.ledger.perform(RecordDeliveries(held)) == nil) == isStopped)
            let files = try source.left()
            let isWritten = ![AppCopy.Step.checked, .stopped, .signed].contains(step)
            #expect(files.count == (isWritten ? 1 : 0))
            for file in files {
                let attributes = try FileManager.default.attributesOfItem(atPath: source.path(file))
                #expect(attributes[.posixPermissions] as? Int == 0o700)
            }
            var target = "game.sqlite"
            switch step {
            case .stopped:
                // Meanwhile a server starts without the app.
                _ = try await world.restarted(
                    [RegisteredApp(id: "other", bundleIDs: ["com.example.other"])], entryKey: source.entryKey)
            case .written:
                // An erasure reaches the file that was written before it.
                try await world.erase("zoe")
            case .copied:
                // Another target is named instead, and the first one is never opened.
                target = "second.sqlite"
            default: break
            }
            #expect(try await (source.move(to: target) == nil) == isFinished)
            #expect(try await source.move(to: target) == nil)
            let third = await failure(CopyError.self) { try await source.move(to: "third.sqlite") }
            #expect(third?.code == .appMoved)
            if step == .copied {
                let first = await failure(CopyError.self) { try await source.move() }
                #expect(first?.code == .appMoved)
                let database = try SQLiteDatabase(path: source.path("game.sqlite"))
                #expect(await storageFailure { try await LedgerWorld(database) } == .copyUnfinished)
                try await database.close()
            }
            #expect(await failure(CopyError.self) { try await source.copy().reopen() }?.code == .appMoved)
            #expect(try source.left() == [])
            try await Self.withTarget(source, target) { target async throws in
                let names = try await target.database.read(.lists) {
                    try $0.rows("SELECT name FROM customers WHERE name = 'zoe'", [])
                }
                #expect(names.isEmpty == (step == .written))
                #expect(try await source.lease(target.ledger)?.cursor == held.cursor)
                #expect(try await target.claim("83", customer: "yan", try LedgerWorld.signed("83")).code == "accepted")
            }
        }
    }

    @Test("A move that is given up, or that an erasure overtook, leaves the app where it was")
    func givenUp() async throws {
        try await Self.withSource { source async throws in
            let world = source.world
            _ = try #require(try await source.lease())
            _ = try await world.claim("80", customer: "zoe", try LedgerWorld.signed("80"))
            let overtaken = await failure(CopyError.self) {
                try await source.move { if $0 == .copied { try await world.erase("zoe") } }
            }
            #expect(overtaken?.code == .appDiffers)
            #expect(await failure(CopyError.self) { try await source.move() }?.code == .targetNotEmpty)
            let old = try #require(try await source.copy().moved())
            try await source.copy().reopen()
            #expect(await failure(CopyError.self) { try await source.copy().reopen() }?.code == .notCopied)
            #expect(try await source.lease() != nil)
            #expect(try await world.claim("81", customer: "yan", try LedgerWorld.signed("81")).code == "accepted")
            // A move that was given up while it ran does not finish.
            let late = await failure(CopyError.self) {
                try await source.move(to: "late.sqlite") {
                    guard $0 == .copied else { return }
                    _ = try await world.ledger.perform(ReopenApp(app: "example"))
                }
            }
            #expect(late?.code == .appMoved)
            try await source.move(to: "last.sqlite")
            #expect(try await source.copy().moved()?.id != old.id)
            try await source.copy().reopen(discardsTarget: true)
            #expect(try await world.claim("82", customer: "yan", try LedgerWorld.signed("82")).code == "accepted")
        }
    }

    @Test("Whatever is wrong is found before the app is closed")
    func refused() async throws {
        for sql in [
            "", "DELETE FROM journal WHERE entry_key = 6", "UPDATE journal SET app_key = 2 WHERE entry_key = 6",
        ] {
            try await Self.withSource(isWhole: false) { source async throws in
                let (world, isSQLite) = (source.world, source.database is SQLiteDatabase)
                for number in 0..<5 { _ = try await world.claim("\(number)", try LedgerWorld.signed("\(number)")) }
                let signed = try await source.checkpoint()
                let wrongKey = try EntryKey.create(at: source.path("wrong.key"))
                func opened(_ verifier: PurchaseVerifier, _ key: EntryKey) async throws -> AppCopy {
                    let ledger = try await PurchaseLedger.openRecorded(
                        database: source.database, verifier: verifier, entryKey: key
                    ) { world.clock.now }
                    return source.copy(ledger)
                }
                let wrong = try await opened(LedgerWorld.verifier(), wrongKey)
                func requireOpen() async throws {
                    #expect(try await source.copy().moved() == nil)
                    #expect(try await source.checkpoint() == signed)
                }
                guard sql.isEmpty else {
                    guard isSQLite else { return }
                    try await source.tamper(sql)
                    if sql.hasPrefix("DELETE") {
                        #expect(await storageFailure { try await source.move() } == .corrupt)
                    } else {
                        #expect(await failure(CopyError.self) { try await source.move() }?.code == .appDiffers)
                    }
                    return try await requireOpen()
                }
                #expect(await logFailure { try await source.move(wrong) } == .entryKeyDiffers)
                let distrusting = try await opened(PurchaseVerifier(anchors: TrustAnchor.apple), source.entryKey)
                let code = await failure(CopyError.self) { try await source.move(distrusting) }?.code
                #expect(code == .appDiffers)
                let nowhere = AppCopy(
                    of: "example", from: world.ledger, keyFile: source.path("entries.key"),
                    folder: source.folder.appending(path: "none"))
                await #expect(throws: (any Error).self) { try await source.move(nowhere) }
                try await requireOpen()
                await source.moveKilled(after: .stopped)
                let closed = try await source.checkpoint()
                #expect(await logFailure { try await wrong.reopen() } == .entryKeyDiffers)
                #expect(try await source.checkpoint() == closed)
                try await source.copy().reopen()
                #expect(try await world.claim("9", try LedgerWorld.signed("9")).code == "accepted")
            }
        }
    }
}
