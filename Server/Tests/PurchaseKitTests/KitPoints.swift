import Foundation
import KitTestSupport
import PurchaseAPI
import PurchaseKit
import Synchronization
import Testing

/// What tests of single points share.
extension PurchaseEngine {
    /// The products that the customer may use now.
    func active() async throws -> [String] { try entitlements().filter(\.isActive).map(\.productID) }

    /// The seconds until the first waiting transaction is tried.
    func pause(_ device: KitDevice) async throws -> Int {
        let next = try #require(try diagnostics().waiting.first?.nextAttempt)
        return Int(next.timeIntervalSince(device.time.now).rounded())
    }
}

extension KitLink {
    /// The customers of the requests so far.
    func customers() throws -> [String?] {
        struct Body: Decodable { let customer_id: String? }
        return try sent.withLock { try $0.map { try JSONDecoder().decode(Body.self, from: Data($0.body)).customer_id } }
    }

    /// Cuts the connection, or connects it again.
    func isCut(_ isCut: Bool) {
        let hop: Hop = { _, _ in throw LineCut() }
        intercept(isCut ? hop : nil)
    }
}

/// Collects events.
final class KitEvents: Sendable {
    private let seen = Mutex<[PurchaseEvent]>([])
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ engine: PurchaseEngine) async {
        let events = await engine.events()
        let task = Task { for await event in events { seen.withLock { $0.append(event) } } }
        self.task.withLock { $0 = task }
    }

    deinit { task.withLock { $0?.cancel() } }

    /// The events so far, after a short time for the last to arrive.
    func all() async throws -> [PurchaseEvent] {
        try await Task.sleep(for: .milliseconds(50))
        return seen.withLock { $0 }
    }

    func names() async throws -> [String] { try await all().map(\.name) }
}

/// A time whose sleep ends only by cancellation, and counts.
final class StillTime: PurchaseTime, Sendable {
    let sleeps = Mutex<[Double]>([])

    var now: Date { Date() }
    var uptime: Double { ProcessInfo.processInfo.systemUptime }

    func sleep(seconds: Double) async throws {
        sleeps.withLock { $0.append(seconds) }
        try await Task.sleep(for: .seconds(3600))
    }
}

/// A life of the app that the test directs.
final class KitLife: AppLife, Sendable {
    let open = Mutex(0)
    let begun = Mutex<[String]>([])
    private let continuation = Mutex<AsyncStream<AppMoment>.Continuation?>(nil)

    func moments() -> AsyncStream<AppMoment> {
        AsyncStream { made in continuation.withLock { $0 = made } }
    }

    func send(_ moment: AppMoment) { _ = continuation.withLock { $0?.yield(moment) } }

    func beginWork(_ name: String) async -> @Sendable () async -> Void {
        begun.withLock { $0.append(name) }
        open.withLock { $0 += 1 }
        return { self.open.withLock { $0 -= 1 } }
    }
}

/// Takes its time in each callback, until the test ends it.
final class SlowDelegate: PurchaseDelegate {
    let seen = Mutex<[String]>([])
    let isReleased = Mutex(false)

    func didVerify(_: PaymentTransaction, isValid: Bool) async { await hold("\(isValid)") }
    func didFailToVerify(_: PaymentTransaction, error: PurchaseError) async { await hold(error.code.rawValue) }

    private func hold(_ text: String) async {
        seen.withLock { $0.append(text) }
        while !isReleased.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(5)) }
    }
}

/// Calls everything from every callback.
final class BusyDelegate: PurchaseDelegate {
    let engine: PurchaseEngine
    let customer: PurchaseCustomer
    let seen = Mutex<[String]>([])

    init(_ engine: PurchaseEngine, _ customer: PurchaseCustomer) { (self.engine, self.customer) = (engine, customer) }

    func didVerify(_ transaction: PaymentTransaction, isValid: Bool) async {
        seen.withLock { $0.append("\(isValid)") }
        await callEverything(transaction)
    }

    func didFailToVerify(_ transaction: PaymentTransaction, error: PurchaseError) async {
        seen.withLock { $0.append(error.code.rawValue) }
        await callEverything(transaction)
    }

    private func callEverything(_ transaction: PaymentTransaction) async {
        await engine.retryNow()
        await engine.retryDue()
        await engine.start()
        await engine.refreshEntitlements(evenIfKnown: true)
        _ = try? await engine.entitlements()
        _ = try? await engine.diagnostics()
        _ = try? await engine.balance(of: "coins")
        _ = try? await engine.purchases()
        _ = try? await engine.guest()
        _ = await engine.events()
        _ = engine.entitlementUpdates()
        await engine.setDelegate(self)
        await engine.promote("pro")
        // A second purchase from a callback would bring a callback of its own.
        if seen.withLock({ $0.count }) == 1 {
            _ = await engine.restore()
            await engine.handle(transaction)
            await Task.detached { [engine] in await engine.retryNow() }.value
            await callTheRest(transaction)
        }
    }

    private func callTheRest(_ transaction: PaymentTransaction) async {
        let run = Task { [engine] in await engine.run() }
        run.cancel()
        await run.value
        await engine.refreshAndRetry()
        await engine.withdraw(["nothing"])
        try? await engine.consume(of: "coins", consumptionID: "one")
        _ = try? await engine.verifiedReceipt()
        _ = try? await engine.verify(appTransaction: "none")
        if let exported = try? await engine.exportPurchases() { try? await engine.importPurchases(exported) }
        try? await engine.adopt([])
        try? await engine.discard("none")
        await engine.handle(transaction)
        _ = await engine.buy("")
        await engine.signOut()
        _ = try? await engine.signInAsGuest()
        try? await engine.signIn(customer) { $1 }
        await engine.signIn(customer)
        _ = try? await engine.products(["coins"])
    }
}
