import Crypto
import Foundation
import KitTestSupport
import PurchaseKit
import PurchaseServer
import Synchronization
import Testing

/// What the kit keeps: the mark of time, its record, its outbox; and what it reports.
@Suite("Kept state")
struct KeptStateTests {
    @Test("1.5 One wrong clock ends no subscription that is renewed later", arguments: [true, false])
    func wrongClock(hasServer: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(hasServer: hasServer)
            #expect(await engine.buy("monthly").code == "granted")
            let years = 3.0 * 366 * 86_400
            device.time.set(years)
            device.link.isCut(true)
            #expect(try await engine.active().isEmpty)
            device.time.set(-years)
            // Turning the clock back gains nothing by itself.
            #expect(try await engine.active().isEmpty)
            device.link.isCut(false)
            try await world.pass(days: 32, device)
            let renewal = try #require(try await device.simulated.unfinished().last)
            let later = try await device.engine(hasServer: hasServer)
            #expect(await later.handle(renewal).code == "granted")
            #expect(try await later.active() == ["monthly"])
            try await world.pass(days: 20, device)
            #expect(try await later.active() == ["monthly"])
            try await world.pass(days: 20, device)
            #expect(try await later.active().isEmpty)
        }
    }

    @Test("1.5 Whatever two clocks a device had, the next answer shows what is paid", .timeLimit(.minutes(10)))
    func everyClock() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            #expect(await engine.buy("monthly").code == "granted")
            let errors = [-20.0 * 366, -1, 0, 40, 20 * 366].map { $0 * 86_400 }
            var error = 0.0
            for first in errors {
                for second in errors {
                    for next in [first, second] {
                        device.time.set(next - error)
                        error = next
                        _ = try await engine.active()
                    }
                    await engine.refreshEntitlements(evenIfKnown: true)
                    #expect(try await engine.active() == ["monthly"], "\(first), then \(second)")
                }
            }
        }
    }

    @Test("1.5 Turning the clock back gains nothing, from any day to any day", arguments: [true, false])
    func clockBack(hasServer: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            #expect(try await device.engine(hasServer: hasServer).buy("monthly").code == "granted")
            device.link.isCut(true)
            device.time.pass(40 * 86_400)
            #expect(try await device.engine(hasServer: hasServer).active().isEmpty)
            for days in [1.0, 9, 20, 39, 400] {
                device.time.set(-days * 86_400)
                #expect(try await device.engine(hasServer: hasServer).active().isEmpty, "\(days) days back")
                device.time.set(days * 86_400)
            }
        }
    }

    @Test("1.8 A failure keeps the domain and code of the system's error")
    func causes() async throws {
        let system = NSError(domain: "SKErrorDomain", code: 2)
        #expect(PurchaseError(.paymentFailed, system).cause == PurchaseError.Cause(domain: "SKErrorDomain", code: 2))
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            let events = await KitEvents(engine)
            let cancelled = PaymentTransaction(
                transactionID: nil, productID: "coins", state: .failed, failure: PurchaseError(.paymentFailed, system))
            #expect(await engine.handle(cancelled) == .cancelled)
            let offline = PurchaseError(.paymentFailed, NSError(domain: NSURLErrorDomain, code: -1009))
            let failed = PaymentTransaction(
                transactionID: nil, productID: "coins", state: .failed, failure: offline)
            guard case .failed(let error) = await engine.handle(failed) else {
                Issue.record("not failed")
                return
            }
            #expect(error.cause == PurchaseError.Cause(domain: NSURLErrorDomain, code: -1009))
            let names = try await events.names()
            #expect(names == ["cancelled", "failed"])
        }
    }

    @Test("1.8 A second run returns at once, and the end of a period is an event", .timeLimit(.minutes(10)))
    func runs() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            let events = await KitEvents(engine)
            #expect(await engine.buy("monthly").code == "granted")
            let id = try #require(try await device.lastTransaction())
            try await device.simulated.control("subscriptions/\(id)/cancel")
            let run = Task { await engine.run() }
            defer { run.cancel() }
            while device.queue.reads.withLock({ $0 }) == 0 { try await device.settle() }
            await engine.run()
            try await world.pass(days: 32, device)
            while !(try await events.all().contains(.ended(productID: "monthly"))) { try await device.settle() }
            #expect(try await events.all().filter { $0 == .ended(productID: "monthly") }.count == 1)
        }
    }

    @Test(
        "1.9 An idle engine sleeps until something is due, and wakes when something changes", .timeLimit(.minutes(10)))
    func sleeps() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let time = StillTime()
            let engine = try await device.engine(time: time)
            let run = Task { await engine.run() }
            defer { run.cancel() }
            func waits(_ count: Int) async throws {
                while time.sleeps.withLock({ $0.count }) < count { try await device.settle() }
            }
            try await waits(1)
            try await Task.sleep(for: .milliseconds(300))
            let idle = time.sleeps.withLock { $0 }
            #expect(idle.count <= 2)
            #expect(idle.last ?? 0 > 3600)
            device.link.isCut(true)
            #expect(await engine.buy("coins").code == "connection_failed")
            while (time.sleeps.withLock { $0.last } ?? 0) > 4 { try await device.settle() }
        }
    }

    @Test("1.9 A damaged store is set aside and reported, and nothing is refused because of it")
    func damagedStore() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            #expect(try await device.engine().buy("pro").code == "granted")
            let file = world.folder.appending(path: "\(device.customer).purchases")
            try Data("damaged".utf8).write(to: file)
            let engine = try await device.engine(isSignedIn: false)
            let events = await KitEvents(engine)
            await engine.signIn(PurchaseCustomer(id: device.customer))
            await engine.start()
            #expect(try await events.names().first == "store_set_aside")
            #expect(try await engine.active() == ["pro"])
            #expect(try Data(contentsOf: file.appendingPathExtension("damaged")) == Data("damaged".utf8))
        }
    }

    @Test("1.9 An answer that verified when it came counts after the keys of answers changed")
    func keysChanged() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let first = try await device.engine()
            #expect(await first.buy("pro").code == "granted")
            #expect(await first.buy("coins", quantity: 3).code == "granted")
            try await world.consume("coins", by: device.customer)
            // Its answer states what the backend left; what was granted on this device would be 5.
            #expect(await first.buy("coins", quantity: 2).code == "granted")
            let keys = try AnswerKeys(current: AnswerSigner().publicKey)
            let engine = try await device.engine(keys: keys)
            await engine.start()
            #expect(try await engine.active().contains("pro"))
            #expect(try await engine.balance(of: "coins") == 4)
        }
    }

    @Test("1.9 The system is asked for time in the background around each claim, and released")
    func backgroundTime() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let life = KitLife()
            let engine = try await device.engine(life: life)
            #expect(await engine.buy("pro").code == "granted")
            device.link.isCut(true)
            #expect(await engine.buy("coins").code == "connection_failed")
            _ = await engine.restore()
            await engine.refreshEntitlements()
            #expect(life.begun.withLock { Set($0) } == ["purchase", "restore", "refresh"])
            #expect(life.open.withLock { $0 } == 0)
        }
    }

    @Test("1.9 A transaction that is too old is not tried by the clock, and forgotten when the queue forgot it")
    func oldEntries() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            device.link.isCut(true)
            let engine = try await device.engine()
            #expect(await engine.buy("coins").code == "connection_failed")
            for _ in 0..<20 { await engine.retryNow() }
            device.time.pass(61 * 86_400)
            let sent = device.link.paths.count
            await engine.retryDue()
            #expect(device.link.paths.count == sent)
            await engine.start()
            #expect(device.link.paths.count == sent + 1)
            #expect(try await engine.diagnostics().waiting.count == 1)
            for transaction in try await device.simulated.unfinished() {
                try await device.simulated.finish(transaction)
            }
            let events = await KitEvents(engine)
            await engine.start()
            #expect(try await engine.diagnostics().waiting.isEmpty)
            #expect(try await events.names().contains("discarded"))
        }
    }

    @Test(
        "1.10 6,000 uses do not make the record grow, each writes less than 16 kB, and a repeated use changes nothing",
        .timeLimit(.minutes(10)))
    func uses() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let store = CountingStore(device.store)
            let engine = try await device.engine(hasServer: false, store: store)
            try await engine.adopt([
                GrantedPurchase(
                    key: PurchaseKey(environment: nil, transactionID: "1"), productID: "coins", kind: .consumable,
                    quantity: 10_000, grantedAt: Date())
            ])
            for number in 0..<300 {
                for _ in 0..<2 { try await engine.consume(of: "coins", consumptionID: "use-\(number)") }
            }
            #expect(try await engine.balance(of: "coins") == 9700)
            let file = world.folder.appending(path: "\(device.customer).purchases")
            let size = try Data(contentsOf: file).count
            let before = store.written.withLock { $0 }
            // 6,000 uses in all. The names are short and of one length, so the size may differ by the digits of the
            // totals.
            for number in 300..<6000 { try await engine.consume(of: "coins", consumptionID: "use-\(number)") }
            #expect(try await engine.balance(of: "coins") == 4000)
            #expect(try Data(contentsOf: file).count <= size + 512)
            let written = store.written.withLock { $0 } - before
            #expect(written / 5700 < 16_000, "\(written / 5700) bytes are written for each use")
            try await engine.adopt(
                (1..<700).map { number in
                    GrantedPurchase(
                        key: PurchaseKey(environment: nil, transactionID: "c\(number)"), productID: "gems",
                        kind: .consumable, grantedAt: Date())
                })
            #expect(try await engine.balance(of: "gems") == 699)
            #expect(try Data(contentsOf: file).count < 64 << 10)
            // Another run reads the same.
            let later = try await device.engine(hasServer: false)
            #expect(try await later.balance(of: "coins") == 4000)
            let other = try await device.engine(hasServer: false, store: device.otherStore)
            for _ in 0..<2 { try await other.importPurchases(try await later.exportPurchases()) }
            #expect(try await other.balance(of: "coins") == 4000)
            #expect(try await other.balance(of: "gems") == 699)
        }
    }

    @Test("1.10 Evidence is not in the record, and is removed with its transaction")
    func evidenceFiles() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            device.link.isCut(true)
            #expect(try await device.engine().buy("coins").code == "connection_failed")
            let file = world.folder.appending(path: "\(device.customer).purchases")
            let folder = file.appendingPathExtension("evidence")
            #expect(!String(decoding: try Data(contentsOf: file), as: UTF8.self).contains("eyJ"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 1)
            // The queue does not answer at the next launch: the stored evidence is enough.
            device.queue.failToList(1)
            device.link.isCut(false)
            let engine = try await device.engine()
            await engine.start()
            #expect(try await device.coins() == 1)
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(left.allSatisfy { $0.hasPrefix("accepted-") }, "\(left)")
        }
    }
}

/// A store that counts the bytes that are written.
private final class CountingStore: PurchaseStore {
    private let store: FilePurchaseStore
    let written = Mutex(0)

    init(_ store: FilePurchaseStore) { self.store = store }

    func read() throws -> [UInt8]? { try store.read() }
    func write(_ document: [UInt8]) throws {
        written.withLock { $0 += document.count }
        try store.write(document)
    }
    func evidence(_ name: String) throws -> [UInt8]? { try store.evidence(name) }
    func keepEvidence(_ evidence: [UInt8], _ name: String) throws {
        written.withLock { $0 += evidence.count }
        try store.keepEvidence(evidence, name)
    }
    func removeEvidence(_ name: String) throws { try store.removeEvidence(name) }
}
