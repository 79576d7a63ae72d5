import Foundation
import PurchaseKit
import PurchaseMessages
import Testing

/// What the customer taps on.
@Suite("Buttons", .timeLimit(.minutes(10)))
struct ButtonTests {
    @Test("Two taps open one payment, also with an order each, and a tap after the sheet another")
    func twoTaps() async throws {
        let probe = try Probe()
        let engine = try probe.engine(hasServer: false)
        probe.queue.mode.change { $0 = .asks }
        let taps = (1...2).map { number in
            Task { await engine.buy("coins", quantity: number, order: PurchaseOrder(orderID: "\(number)")) }
        }
        try await wait { await engine.joinedTaps == 1 && !probe.queue.asked.value.isEmpty }
        #expect(probe.queue.asked.value.count == 1)
        probe.queue.mode.change { $0 = .normal }
        for tap in taps { #expect(await tap.value.code == "granted") }
        #expect(try await engine.balance(of: "coins") == Int64(probe.queue.asked.value[0].quantity))
        #expect(await engine.buy("coins").code == "granted")
        #expect(probe.queue.asked.value.count == 2)
    }

    @Test("Two customers' taps on a product are two payments")
    func twoCustomers() async throws {
        let probe = try Probe()
        let engine = try probe.engine()
        await engine.signIn(PurchaseCustomer(id: "alice"))
        probe.queue.mode.change { $0 = .asks }
        let first = Task { await engine.buy("coins") }
        try await wait { probe.queue.asked.value.count == 1 }
        await engine.signIn(PurchaseCustomer(id: "bob"))
        let second = Task { await engine.buy("coins") }
        try await wait {
            let joined = await engine.joinedTaps
            return probe.queue.asked.value.count + joined == 2
        }
        #expect(probe.queue.asked.value.count == 2)
        probe.queue.mode.change { $0 = .normal }
        #expect(await [first.value.code, second.value.code].contains("granted"))
        #expect(try await engine.balance(of: "coins") == 1)
    }

    @Test("With the original API a second call opens no second payment until the queue brought the first")
    func twoCalls() async throws {
        let probe = try Probe()
        let engine = try probe.engine(hasServer: false)
        probe.queue.mode.change { $0 = .queued }
        for _ in 0..<2 { #expect(await engine.buy("coins") == .queued) }
        #expect(PurchaseOutcome.queued.message == nil)
        #expect(probe.queue.asked.value.count == 1)
        var transaction = try probe.queue.sell("coins")
        transaction.state = .purchasing
        #expect(await engine.handle(transaction) == .pending)
        #expect(await engine.buy("coins") == .queued)
        #expect(probe.queue.asked.value.count == 1)
        transaction.state = .purchased
        #expect(await engine.handle(transaction).code == "granted")
        // The queue may bring it before it says that it will.
        probe.queue.mode.change { $0 = .asks }
        let early = Task { await engine.buy("coins") }
        try await wait { probe.queue.asked.value.count == 2 }
        #expect(await engine.handle(try probe.queue.sell("coins")).code == "granted")
        probe.queue.mode.change { $0 = .queued }
        #expect(await early.value == .queued)
        #expect(await engine.buy("coins") == .queued)
        #expect(probe.queue.asked.value.count == 3)
    }

    @Test(
        "With the original API the model is busy no longer when the queue brings what is known, waits or cannot be stored",
        arguments: ["known", "another's", "not stored"])
    @MainActor
    func queuedKnown(_ end: String) async throws {
        let probe = try Probe()
        let engine = try probe.engine(hasServer: end == "another's")
        await engine.signIn(PurchaseCustomer(id: "alice"))
        if end != "not stored" { #expect(await engine.buy("pro").code == "granted") }
        await engine.signIn(PurchaseCustomer(id: end == "another's" ? "bob" : "alice"))
        let model = PurchaseModel(engine)
        try await wait { probe.queue.isHeard }
        probe.queue.mode.change { $0 = .queued }
        await model.buy("pro")
        if end == "not stored" { probe.store.isFull.change { $0 = true } }
        probe.queue.send(try probe.queue.sold.value.first ?? probe.queue.sell("pro"))
        try await wait { !model.isBusy }
        let codes = ["known": "granted", "another's": "owned_by_another", "not stored": "store_failed"]
        #expect(model.outcome?.code == codes[end])
    }

    @Test(
        "With the original API the model is busy and says nothing until the queue does",
        arguments: ["deferred", "paid"])
    @MainActor
    func queued(_ end: String) async throws {
        let probe = try Probe()
        let engine = try probe.engine(hasServer: false)
        let model = PurchaseModel(engine)
        try await wait { probe.queue.isHeard }
        probe.queue.mode.change { $0 = .queued }
        await model.buy("pro")
        #expect(model.isBusy && model.outcome == nil)
        await model.buy("pro")
        #expect(probe.queue.asked.value.count == 1)
        var transaction = try probe.queue.sell("pro", token: probe.queue.asked.value[0].appAccountToken)
        if end == "deferred" { (transaction.state, transaction.transactionID) = (.deferred, nil) }
        probe.queue.send(transaction)
        try await wait { model.outcome != nil }
        #expect(!model.isBusy)
        #expect(model.outcome?.code == (end == "deferred" ? "pending" : "granted"))
    }

    @Test("An error before the sheet ends the started purchase, and an interruption does not")
    func errors() async throws {
        let probe = try Probe()
        let engine = try probe.engine(hasServer: false)
        func left(_ error: PurchaseError) async throws -> Int {
            probe.queue.mode.change { $0 = .fails(error) }
            #expect(await engine.buy("pro").code == error.code.rawValue)
            return try await engine.diagnostics().startedPurchases
        }
        for code in [1, 3, 4, 5, 11, 12, 13, 14, 18] {
            #expect(try await left(PurchaseError(.paymentFailed, NSError(domain: "SKErrorDomain", code: code))) == 0)
        }
        #expect(try await left(PurchaseError(.queueFailed)) == 0)
        #expect(try await left(PurchaseError(.paymentFailed, NSError(domain: "SKErrorDomain", code: 0))) == 1)
    }

    @Test(
        "A restore writes the record as often for four hundred transactions as for four", arguments: [true, false],
        [true, false])
    func restore(hasServer: Bool, hasDelegate: Bool) async throws {
        var writes: [Int] = []
        for count in [4, 400] {
            let probe = try Probe()
            for number in 0..<count { try probe.queue.sell("item-\(number)") }
            let engine = try probe.engine(hasServer: hasServer)
            await engine.signIn(PurchaseCustomer(id: "alice"))
            let delegate = Told()
            if hasDelegate { await engine.setDelegate(delegate) }
            let before = probe.store.writes.value.count
            let summary = await engine.restore()
            #expect(summary.granted.count == count && summary.undetermined.isEmpty && summary.error == nil)
            #expect(try await engine.active().count == count)
            #expect(try await engine.diagnostics().waiting.isEmpty)
            #expect(probe.queue.finished.value.count == count)
            #expect(delegate.valid.value == (hasDelegate ? count : 0))
            writes.append(probe.store.writes.value.count - before)
        }
        #expect(writes[0] == writes[1] && writes[1] <= (hasDelegate ? 4 : 3), "\(writes)")
    }

    @Test("The model shows what StoreKit's own views sold, refused, cancelled or left pending")
    @MainActor
    func views() async throws {
        let probe = try Probe()
        let model = PurchaseModel(try probe.engine(hasServer: false))
        let cancelled = NSError(domain: "SKErrorDomain", code: 2)
        let results: [(Result<PaymentResult, any Error>, String)] = [
            (.success(.pending), "pending"), (.failure(PurchaseError(.queueFailed)), "queue_failed"),
            (.success(.cancelled), "cancelled"), (.failure(cancelled), "cancelled"),
            (.success(.purchased(try probe.queue.sell("pro"))), "granted"),
        ]
        for (result, code) in results {
            await model.take(result, of: "pro")
            #expect(model.outcome?.code == code)
        }
        try await wait { model.isActive("pro") }
    }

    @Test("A restore says what it found, in a sentence")
    func sentences() async throws {
        for (found, begin) in [("nothing", ""), ("granted", "Your purchases are"), ("other", "Your purchases belong")] {
            let probe = try Probe()
            if found != "nothing" { try probe.queue.sell("pro") }
            if found == "other" {
                probe.server.owners.change { $0 = [probe.queue.sold.value[0].transactionID ?? "": "bob"] }
            }
            let summary = await (try probe.engine()).restore()
            #expect(summary.message?.hasPrefix(found == "nothing" ? "There is nothing" : begin) == true, "\(summary)")
        }
        var summary = RestoreSummary()
        summary.error = PurchaseError(.paymentCancelled)
        #expect(summary.message == nil)
        summary.error = PurchaseError(.queueFailed)
        #expect(summary.message?.contains("could not be restored") == true)
    }

    @Test("A price per month, of each unit of a period")
    func pricePerMonth() {
        for (count, unit, price, month) in [
            (1, PurchasePeriod.Unit.month, 5, 5), (3, .month, 15, 5), (1, .year, 60, 5), (12, .week, 36, 13),
            (365, .day, 24, 2),
        ] {
            let product = PurchaseProduct(
                productID: "club", name: "Club", price: Decimal(price), priceText: "",
                period: PurchasePeriod(count, unit))
            #expect(product.pricePerMonth == Decimal(month), "\(count) \(unit)")
        }
        #expect(PurchaseProduct(productID: "coins", name: "Coins", price: 1, priceText: "").pricePerMonth == nil)
    }

    @Test("Behind renewals that wait for a dead server a purchase is sent at once")
    func behindRenewals() async throws {
        let probe = try Probe()
        let engine = try probe.engine()
        await engine.signIn(PurchaseCustomer(id: "alice"))
        let run = Task { await engine.run() }
        defer { run.cancel() }
        try await wait { probe.queue.isHeard }
        probe.server.isDead.change { $0 = true }
        for _ in 0..<8 { probe.queue.send(try probe.queue.sell("monthly")) }
        probe.queue.mode.change { $0 = .queued }
        #expect(await engine.buy("pro") == .queued)
        probe.queue.send(try probe.queue.sell("pro", token: probe.queue.asked.value[0].appAccountToken))
        try await wait { probe.server.sent.value.contains { $0.path == "/v1/purchases" } }
        #expect(probe.server.sent.value.count < 8)
        probe.server.isDead.change { $0 = false }
    }
}

/// A delegate that counts.
private final class Told: PurchaseDelegate {
    let valid = Locked(0)

    func didVerify(_: PaymentTransaction, isValid: Bool) async { valid.change { $0 += isValid ? 1 : 0 } }
    func didFailToVerify(_: PaymentTransaction, error _: PurchaseError) async {}
}
