import Foundation
import KitTestSupport
import PurchaseAPI
import PurchaseKit
import PurchaseVerification
import Synchronization
import Testing

/// What an app developer writes: screens, widgets, logs.
@Suite("Screens, widgets and logs")
struct ScreenTests {
    @Test("3 A model follows a purchase, a use by the backend elsewhere, and a refund, by itself")
    @MainActor
    func model() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let model = await PurchaseModel(try await device.engine())
            #expect(await model.outcome == nil)
            await model.buy("pro")
            #expect(await model.outcome?.isGranted == true)
            try await Self.wait { await model.isActive("pro") }
            await model.buy("coins", quantity: 3)
            try await Self.wait { await model.balance("coins") == 3 }
            let id = try #require(try await model.engine.purchases().first { $0.productID == "pro" }).key.transactionID
            try await device.simulated.control("transactions/\(id)/refund")
            try await Self.wait { await !model.isActive("pro") }
            #expect(await !model.isBusy)
            await model.restore()
            #expect(await model.restored?.error == nil)
        }
    }

    @Test("3 A model tells that nothing was read yet from that nothing was bought")
    @MainActor
    func notReadYet() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let store = LockedStore(store: device.store, reads: .max)
            let model = await PurchaseModel(try await device.engine(store: store))
            try await Task.sleep(for: .milliseconds(100))
            #expect(await !model.isLoaded)
            store.unlock()
            // The next start is due.
            device.time.pass(3600)
            try await Self.wait { await model.isLoaded }
            #expect(await model.entitlements.isEmpty)
        }
    }

    @Test("3 A screen that is open changes when the paid period ends, without news", arguments: [true, false])
    func endOfPeriod(runs: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(hasServer: false)
            #expect(await engine.buy("monthly").code == "granted")
            let running = runs ? Task { await engine.run() } : nil
            defer { running?.cancel() }
            var seen: [Bool] = []
            for await entitlements in engine.entitlementUpdates() {
                seen.append(entitlements.contains { $0.productID == "monthly" && $0.isActive })
                // The device's clock alone: the store renews nothing, and lists nothing that has ended.
                if seen == [true] {
                    device.queue.listsNothing.withLock { $0 = true }
                    device.time.pass(32 * 86_400)
                }
                if seen.last == false { break }
            }
            #expect(seen == [true, false])
        }
    }

    @Test("3 A screen sleeps until the paid time ends, also if the device's clock is already past it")
    func wrongClock() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            // The server's answer tells how wrong it is.
            device.time.set(40 * 86_400)
            let time = SleepRecorder(device.time)
            let engine = try await device.engine(time: time)
            #expect(await engine.buy("monthly").code == "granted")
            let following = Task {
                for await entitlements in engine.entitlementUpdates() {
                    let monthly = entitlements.first { $0.productID == "monthly" }
                    #expect(monthly?.isActive == true && monthly?.until ?? .distantFuture < device.time.now)
                }
            }
            defer { following.cancel() }
            try await Self.wait { !time.sleeps.withLock { $0.isEmpty } }
            try await Task.sleep(for: .milliseconds(400))
            let sleeps = time.sleeps.withLock { $0 }
            #expect(sleeps.allSatisfy { $0 > 20 * 86_400 }, "\(sleeps)")
        }
    }

    @Test(
        "1.8 When a model goes away or the app's own run ends, another model of the engine goes on",
        arguments: [true, false])
    @MainActor
    func twoModels(isModel: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(hasServer: false)
            let first = await FirstRun(engine, isModel: isModel)
            // It listens.
            _ = try await device.sell("coins")
            try await Self.wait { try await engine.balance(of: "coins") == 1 }
            let second = await PurchaseModel(engine)
            try await Self.wait { await second.balance("coins") == 1 }
            await first.end()
            _ = try await device.sell("pro")
            try await Self.wait { await second.isActive("pro") }
        }
    }

    @Test("3 The stream of entitlements has each state once, and begins with the present one")
    func stream() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(hasServer: false)
            let states = Mutex(0)
            let seen = Task {
                var all: [[String]] = []
                for await entitlements in engine.entitlementUpdates() {
                    all.append(entitlements.filter(\.isActive).map(\.productID))
                    states.withLock { $0 = all.count }
                    if all.count == 3 { break }
                }
                return all
            }
            try await Self.wait { states.withLock { $0 } == 1 }
            _ = await engine.buy("pro")
            try await Self.wait { states.withLock { $0 } == 2 }
            await engine.retryNow()
            _ = await engine.buy("coins")
            #expect(await seen.value == [[], ["pro"], ["coins", "pro"]])
        }
    }

    @Test("3 A launch without a network shows what the last customer has, until they sign out")
    func lastCustomer() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            #expect(await (try await device.engine()).buy("pro").code == "granted")
            device.link.isCut(true)
            let second = try await device.engine(isSignedIn: false)
            #expect(try await second.active() == ["pro"])
            // Shown, and no more: a purchase needs somebody who is signed in.
            #expect(await second.buy("coins").code == "customer_unknown")
            await second.signIn(PurchaseCustomer(id: "somebody-else"))
            #expect(try await second.active().isEmpty)
            await second.signOut()
            let third = try await device.engine(isSignedIn: false)
            #expect(try await third.active().isEmpty)
        }
    }

    @Test("3 A guest has one id over launches, and a login takes over what they bought, or nothing changes")
    func guest() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let first = try await device.engine(isSignedIn: false)
            let guest = try await first.signInAsGuest()
            #expect(await first.buy("pro").code == "granted")
            let second = try await device.engine(isSignedIn: false)
            #expect(try await second.signInAsGuest() == guest)
            #expect(try await second.active() == ["pro"])
            let alice = PurchaseCustomer(id: "alice-\(guest.id.suffix(8))")
            await #expect(throws: LineCut.self) { try await second.signIn(alice) { _, _ in throw LineCut() } }
            #expect(try await second.active() == ["pro"])
            #expect(try await second.guest() == guest)
            try await second.signIn(alice) { guestID, customerID in
                #expect(guestID == guest.id && customerID == alice.id)
                return try await world.merge(guestID, into: customerID)
            }
            #expect(try await second.active() == ["pro"])
            #expect(try await second.guest() == nil)
            #expect(try await world.entitlements(of: alice.id).map(\.state.rawValue) == ["active"])
            // A second login has nothing to hand over.
            try await second.signIn(PurchaseCustomer(id: "bob")) {
                Issue.record("nothing to merge")
                return $1
            }
        }
    }

    @Test(
        "5 A payment that fails while the app is open takes nothing away before the grace period ends",
        .timeLimit(.minutes(10)), arguments: [true, false])
    func grace(hasServer: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(hasServer: hasServer, offline: OfflineLimit())
            let run = Task { await engine.run() }
            defer { run.cancel() }
            #expect(await engine.buy("monthly").code == "granted")
            let states = Mutex<[Bool]>([])
            let following = Task {
                for await all in engine.entitlementUpdates() {
                    states.withLock { $0.append(all.contains(where: \.isActive)) }
                }
            }
            defer { following.cancel() }
            while states.withLock({ $0 }).last != true { try await device.settle() }
            let original = try #require(try await device.lastTransaction())
            try await device.simulated.control("subscriptions/\(original)/billing", ["works": false])
            let end = try #require(try await engine.entitlements().first?.until)
            try await world.pass(days: end.timeIntervalSince(device.time.now) / 86_400 - 0.5, device)
            await engine.refreshEntitlements(evenIfKnown: true)
            try await world.pass(days: 0.7, device)
            // Its end is that of the grace period now.
            while try await engine.entitlements().first?.until ?? .distantPast < device.time.now {
                try await device.settle()
            }
            #expect(try await engine.active() == ["monthly"])
            #expect(states.withLock { $0.allSatisfy { $0 } })
            try await world.pass(days: 20, device)
            while try await !engine.active().isEmpty { try await device.settle() }
        }
    }

    @Test("3 A widget reads what the app wrote, knows the end of a period, and nothing before the first write")
    func snapshot() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(hasServer: false)
            let file = PurchaseSnapshotFile(file: world.folder.appending(path: "snapshot.json"))
            #expect(try file.read() == nil)
            let writing = Task { await engine.writeSnapshots(to: file) }
            defer { writing.cancel() }
            _ = await engine.buy("monthly")
            _ = await engine.buy("coins", quantity: 2)
            try await Self.wait { (try? file.read()?.balance("coins")) == 2 }
            let snapshot = try #require(try file.read())
            let until = try #require(snapshot.entitlements.first { $0.productID == "monthly" }?.until)
            #expect(snapshot.isActive("monthly", at: until.addingTimeInterval(-1)))
            #expect(!snapshot.isActive("monthly", at: until) && !snapshot.isActive("pro"))
        }
    }

    @Test("3 The lines of the log name product, transaction and code, and hold no evidence")
    func log() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            let events = await KitEvents(engine)
            _ = await engine.buy("pro")
            device.link.isCut(true)
            _ = await engine.buy("coins")
            _ = await engine.restore()
            await engine.promote("monthly", offer: .winBack(id: "back"))
            let lines = try await events.all().map(\.logLine)
            let id = try #require(try await engine.purchases().first).key.transactionID
            #expect(lines.contains("granted pro \(id)"), "\(lines)")
            #expect(
                lines.contains { $0.hasPrefix("undetermined coins") && $0.hasSuffix("connection_failed") }, "\(lines)")
            #expect(lines.contains("promoted monthly"))
            let evidence = try await device.simulated.stored(id).signedTransaction ?? ""
            #expect(!evidence.isEmpty && lines.allSatisfy { !$0.contains("eyJ") && $0.count < 200 })
        }
    }

    @Test("3 Outcomes have a sentence for people, except a cancelled purchase")
    func messages() {
        let error = PurchaseError(.connectionFailed)
        let outcomes: [PurchaseOutcome] = [
            .notCounted(error), .refused(error), .invalid(error), .undetermined(error), .pending, .failed(error),
        ]
        let texts = outcomes.map { $0.message ?? "" }
        #expect(Set(texts).count == outcomes.count && texts.allSatisfy { $0.hasSuffix(".") })
        #expect(PurchaseOutcome.cancelled.message == nil && PurchaseOutcome.queued.message == nil)
    }

    @Test("3 An app transaction says when the app was bought, and in which version")
    func appTransaction() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            _ = await engine.buy("pro")
            let id = try #require(try await engine.purchases().first).key.transactionID
            let signed = try await device.simulated.appTransaction(id)
            let verified = try await engine.verify(appTransaction: signed)
            #expect(verified.originalApplicationVersion != nil && verified.originalPurchaseDate != nil)
        }
    }

    /// Waits until it holds, for ten minutes at most.
    private static func wait(_ holds: @Sendable () async throws -> Bool) async throws {
        for _ in 0..<30_000 {
            if try await holds() { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("it did not happen within ten minutes")
    }
}

/// Runs an engine until it is told to end.
@MainActor
private final class FirstRun {
    private var model: PurchaseModel?
    private var run: Task<Void, Never>?

    init(_ engine: PurchaseEngine, isModel: Bool) {
        if isModel { model = PurchaseModel(engine) } else { run = Task { await engine.run() } }
    }

    func end() {
        model = nil
        run?.cancel()
    }
}

/// A clock that records for how long somebody sleeps.
private final class SleepRecorder: PurchaseTime {
    private let time: KitTime
    let sleeps = Mutex<[Double]>([])

    init(_ time: KitTime) { self.time = time }

    var now: Date { time.now }
    var uptime: Double { time.uptime }

    func sleep(seconds: Double) async throws {
        sleeps.withLock { $0.append(seconds) }
        try await SystemPurchaseTime().sleep(seconds: seconds)
    }
}
