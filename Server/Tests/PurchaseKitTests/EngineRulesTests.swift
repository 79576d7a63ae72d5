import Crypto
import Foundation
import KitTestSupport
import PurchaseAPI
import PurchaseKit
import Synchronization
import Testing

/// Whose purchase is sent when, and what is dropped.
@Suite("Rules of the engine")
struct EngineRulesTests {
    @Test(
        "1.1 Purchases with the token of a merged guest are shown on a second device, and their renewals are granted",
        arguments: [true, false])
    func mergedToken(renewsFirst: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let guestOrder = try await world.order("monthly", for: "guest-1")
            let aliceOrder = try await world.order("pro", for: "alice")
            let (guestToken, token) = (
                UUID(uuidString: guestOrder.appAccountToken), UUID(uuidString: aliceOrder.appAccountToken)
            )
            let first = try await device.engine(isSignedIn: false)
            await first.signIn(PurchaseCustomer(id: "guest-1", appAccountToken: guestToken))
            let paid = PurchaseOrder(orderID: guestOrder.orderID, appAccountToken: guestToken)
            #expect(await first.buy("monthly", order: paid).code == "granted")
            try await world.merge("guest-1", into: "alice")
            if renewsFirst { try await world.pass(days: 32, device) }
            let second = try await device.engine(isSignedIn: false, store: device.otherStore)
            await second.signIn(PurchaseCustomer(id: "alice", appAccountToken: token))
            await second.start()
            #expect(try await second.active() == ["monthly"])
            if !renewsFirst {
                try await world.pass(days: 32, device)
                for transaction in try await device.simulated.unfinished() {
                    #expect(await second.handle(transaction).code == "granted")
                }
            }
            #expect(try await device.unfinished() == 0)
            #expect(try await second.diagnostics().waiting.isEmpty)
            #expect(try await second.active() == ["monthly"])
        }
    }

    @Test("1.1 An unfinished consumable with the token of a merged guest is granted by the look")
    func mergedConsumable() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let guestToken = UUID(uuidString: try await world.order("coins", for: "guest-1").appAccountToken)
            let token = UUID(uuidString: try await world.order("pro", for: "alice").appAccountToken)
            try await world.merge("guest-1", into: "alice")
            let engine = try await device.engine(isSignedIn: false)
            await engine.signIn(PurchaseCustomer(id: "alice", appAccountToken: token))
            let waiting = try await device.sell("coins", token: guestToken)
            #expect(await engine.handle(waiting).code == "customer_unknown")
            await engine.refreshEntitlements()
            #expect(try await engine.balance(of: "coins") == 1)
            #expect(try await device.unfinished() == 0)
            #expect(try await engine.diagnostics().waiting.isEmpty)
            // The token is known from now on.
            #expect(await engine.handle(try await device.sell("coins", token: guestToken)).code == "granted")
        }
    }

    @Test("1.1 A purchase with a token of somebody else is sent, and gives nothing", arguments: ["pro", "coins"])
    func foreignToken(product: String) async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let bobs = UUID(uuidString: try await world.order("pro", for: "bob").appAccountToken)
            let carols = UUID(uuidString: try await world.order("pro", for: "carol").appAccountToken)
            _ = try await device.sell(product, token: bobs)
            let engine = try await device.engine(isSignedIn: false)
            await engine.signIn(PurchaseCustomer(id: "carol", appAccountToken: carols))
            await engine.start()
            await engine.retryNow()
            #expect(try await engine.active().isEmpty)
            #expect(try await device.unfinished() == 1)
            #expect(try await world.entitlements(of: "carol").allSatisfy { $0.state != .active })
            await engine.signIn(PurchaseCustomer(id: "bob", appAccountToken: bobs))
            #expect(try await engine.active() == [product])
            #expect(try await device.unfinished() == 0)
        }
    }

    @Test("1.3 A shared purchase is not the started one, and goes to the customer who is signed in")
    func sharedDuringApproval() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(isSignedIn: false)
            await engine.signIn(PurchaseCustomer(id: "alice"))
            try await device.mode("ask-to-buy")
            #expect(await engine.buy("pro") == .pending)
            await engine.signIn(PurchaseCustomer(id: "bob"))
            let owner = try await world.device()
            let id = try #require(try await owner.sell("pro").transactionID)
            try await device.simulated.control("transactions/\(id)/share", ["customer_id": device.customer])
            let shared = try #require(try await device.simulated.unfinished().first)
            #expect(await engine.handle(shared).code == "granted")
            #expect(Set(try device.link.customers()) == ["bob"])
            #expect(try await engine.diagnostics().startedPurchases == 1)
        }
    }

    @Test("1.3 A started purchase ends if nobody was asked to pay, and after 60 days by signed time")
    func startedPurchases() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            let notSold = NSError(domain: "SKErrorDomain", code: 5)
            for error in [PurchaseError(.queueFailed), PurchaseError(.paymentFailed, notSold)] {
                device.queue.refusal.withLock { $0 = error }
                #expect(await engine.buy("pro").code == error.code.rawValue)
                #expect(try await engine.diagnostics().startedPurchases == 0)
            }
            let interrupted = PurchaseError(.paymentFailed, NSError(domain: NSURLErrorDomain, code: -1009))
            device.queue.refusal.withLock { $0 = interrupted }
            #expect(await engine.buy("pro").code == "payment_failed")
            #expect(try await engine.diagnostics().startedPurchases == 1)
            func left(afterDays days: Double) async throws -> Int {
                try await world.pass(days: days, device)
                // The answer brings a signed time.
                #expect(await engine.handle(try await device.sell("coins")).code == "granted")
                await engine.refreshEntitlements()
                return try await engine.diagnostics().startedPurchases
            }
            #expect(try await left(afterDays: 59) == 1)
            #expect(try await left(afterDays: 2) == 0)
        }
    }

    @Test("1.3 A clock that is ahead by months for one launch drops no started purchase", arguments: [true, false])
    func clockAhead(hasServer: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            try await device.mode("ask-to-buy")
            #expect(try await device.engine(hasServer: hasServer).buy("pro") == .pending)
            device.time.set(100 * 86_400)
            let wrong = try await device.engine(hasServer: hasServer)
            await wrong.start()
            device.time.set(-100 * 86_400)
            #expect(try await wrong.diagnostics().startedPurchases == 1)
            try await device.approve()
            let engine = try await device.engine(hasServer: hasServer)
            await engine.start()
            #expect(try await engine.active() == ["pro"])
            #expect(try await engine.diagnostics().startedPurchases == 0)
        }
    }

    @Test("1.9 A purchase that arrived while the clock was years behind is tried by the clock")
    func clockBehind() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let years = 3.0 * 366 * 86_400
            device.time.set(-years)
            device.link.isCut(true)
            let engine = try await device.engine()
            #expect(await engine.buy("coins").code == "connection_failed")
            device.time.set(years)
            device.link.isCut(false)
            device.time.pass(60)
            await engine.retryDue()
            #expect(try await device.unfinished() == 0)
            #expect(try await device.coins() == 1)
        }
    }

    @Test("1.3 Before somebody signs in, nothing is sent for the last customer")
    func beforeSignIn() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            device.link.isCut(true)
            #expect(await (try await device.engine()).buy("pro").code == "connection_failed")
            device.link.isCut(false)
            let sent = device.link.paths.count
            let engine = try await device.engine(isSignedIn: false)
            await engine.start()
            device.time.pass(3600)
            await engine.retryDue()
            await engine.retryNow()
            #expect(device.link.paths.count == sent)
            #expect(try await device.unfinished() == 1)
            await engine.signIn(PurchaseCustomer(id: device.customer))
            #expect(try await engine.active() == ["pro"])
            #expect(try await device.unfinished() == 0)
        }
    }

    @Test("1.2 A receipt that was signed after a purchase had ended makes it active again, an older one does not")
    func newerReceipt() async throws {
        try await KitWorld.run { world in
            let device = try await world.device(isSigned: false)
            let engine = try await device.engine(hasServer: false)
            #expect(await engine.buy("pro").code == "granted")
            let id = try #require(try await device.lastTransaction())
            await engine.refreshEntitlements()
            await engine.withdraw(["pro"])
            await engine.refreshEntitlements()
            #expect(try await engine.active().isEmpty)
            try await world.pass(days: 1, device)
            try await device.receipts.refresh()
            await engine.refreshEntitlements()
            #expect(try await engine.active() == ["pro"])
            // Likewise by a transaction.
            await engine.withdraw(["pro"])
            var copy = PaymentTransaction(
                transactionID: "9\(id)", originalTransactionID: id, productID: "pro", state: .restored)
            #expect(await engine.handle(copy).code == "purchase_revoked")
            try await world.pass(days: 1, device)
            try await device.receipts.refresh()
            copy.transactionID = "8\(id)"
            #expect(await engine.handle(copy).code == "granted")
            #expect(try await engine.active() == ["pro"])
        }
    }

    @Test("1.9 A purchase that waits for a customer who never returns is forgotten when the queue forgot it")
    func neverReturns() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            device.link.isCut(true)
            let engine = try await device.engine()
            #expect(await engine.buy("coins").code == "connection_failed")
            await engine.signIn(PurchaseCustomer(id: "bob"))
            for _ in 0..<20 { await engine.retryNow() }
            for transaction in try await device.simulated.unfinished() {
                try await device.simulated.finish(transaction)
            }
            await engine.start()
            #expect(try await engine.diagnostics().waiting.count == 1)
            device.time.pass(61 * 86_400)
            await engine.start()
            #expect(try await engine.diagnostics().waiting.isEmpty)
        }
    }

    @Test("1.9 While a delegate takes its time, a granted transaction is finished once", .timeLimit(.minutes(10)))
    func slowDelegate() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            device.link.isCut(true)
            #expect(await engine.buy("coins").code == "connection_failed")
            device.link.isCut(false)
            let delegate = SlowDelegate()
            await engine.setDelegate(delegate)
            let retry = Task { await engine.retryNow() }
            while delegate.seen.withLock({ $0.isEmpty }) { try await device.settle() }
            for _ in 0..<5 {
                device.time.pass(60)
                await engine.retryDue()
            }
            #expect(device.queue.finished.withLock { $0.count } == 1)
            delegate.isReleased.withLock { $0 = true }
            await retry.value
            #expect(delegate.seen.withLock { $0 } == ["true"])
            #expect(try await engine.diagnostics().waiting.isEmpty)
        }
    }

    @Test("1.9 A store that was set aside before anybody listened is reported to later listeners")
    func lateListener() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            try Data("damaged".utf8).write(to: world.folder.appending(path: "\(device.customer).purchases"))
            let engine = try await device.engine()
            let (first, second) = (await KitEvents(engine), await KitEvents(engine))
            #expect(try await first.names() == ["store_set_aside"])
            #expect(try await second.names() == ["store_set_aside"])
        }
    }
}
