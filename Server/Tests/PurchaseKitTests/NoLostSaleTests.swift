import Foundation
import KitTestSupport
import PurchaseKit
import PurchaseLedger
import Synchronization
import Testing

/// The device may delay, and never decides against a customer for good.
@Suite("No lost sale")
struct NoLostSaleTests {
    @Test("1.2 No cut of a receipt finishes a paid purchase, with a server or without", .timeLimit(.minutes(10)))
    func cutReceipts() async throws {
        try await KitWorld.run { world in
            let device = try await world.device(isSigned: false)
            let transaction = try await device.sell("coins")
            let receipt = try #require(try await device.simulated.load())
            let alone = try await device.engine(hasServer: false, store: device.otherStore)
            for length in [0, 1, 16] + Array(stride(from: 2, to: receipt.count, by: 211)) {
                device.receipts.replace(by: Array(receipt[..<length]))
                let outcome = await alone.handle(transaction)
                guard case .undetermined = outcome else {
                    Issue.record("\(length) bytes: \(outcome)")
                    return
                }
            }
            let engine = try await device.engine()
            for length in [16, receipt.count - 1] {
                device.receipts.replace(by: Array(receipt[..<length]))
                let sent = device.link.paths.count
                let outcome = await engine.handle(transaction)
                #expect(device.link.paths.count == sent + 1)
                guard case .undetermined = outcome else {
                    Issue.record("\(length) bytes: \(outcome)")
                    return
                }
            }
            #expect(try await device.unfinished() == 1)
            device.receipts.replace(by: nil)
            #expect(await engine.handle(transaction).code == "granted")
            #expect(try await device.coins() == 1)
        }
    }

    @Test(
        "1.2 Unreadable evidence is refreshed once for a purchase of this run, and granted then",
        arguments: [true, false])
    func refreshed(hasServer: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device(isSigned: false)
            device.receipts.replace(by: Array(repeating: 0x30, count: 16))
            #expect(try await device.engine(hasServer: hasServer).buy("coins").code == "granted")
            #expect(device.receipts.refreshes == 1)
        }
    }

    @Test("1.2 What the device cannot read or does not accept is not finished without a server")
    func unreadable() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let transaction = try await device.sell("coins")
            let text = try #require(transaction.signedTransaction)
            let wrong: [(String, PurchaseEngine)] = [
                ("jws_malformed", try await device.engine(hasServer: false, store: device.otherStore)),
                (
                    "bundle_id_mismatch",
                    try await device.engine(hasServer: false, bundleID: "com.exmaple.app", store: device.otherStore)
                ),
            ]
            // No receipt proves it, either.
            device.receipts.replace(by: Array(repeating: 0x30, count: 16))
            for (code, engine) in wrong {
                var broken = transaction
                if code == "jws_malformed" { broken.signedTransaction = String(text.dropLast(100)) + "." }
                let outcome = await engine.handle(broken)
                guard case .undetermined = outcome else {
                    Issue.record("\(code): \(outcome)")
                    return
                }
            }
            #expect(try await device.unfinished() == 1)
            // The server does not mind a mistyped bundle id in the app.
            #expect(try await device.engine(bundleID: "com.exmaple.app").handle(transaction).code == "granted")
        }
    }

    @Test("1.2 A device without an identifier gets what StoreKit verified, with a server and without")
    func noIdentifier() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let alone = try await device.engine(
                hasServer: false, device: LockedDevice(), store: device.otherStore)
            #expect(await alone.buy("coins").code == "granted")
            #expect(try await device.engine(device: LockedDevice()).buy("coins").code == "granted")
        }
    }

    @Test("1.2 Without a server a forged receipt is invalid and stays unfinished until the app discards it")
    func forged() async throws {
        try await KitWorld.run { world in
            let device = try await world.device(isSigned: false)
            let transaction = try await device.sell("coins")
            var receipt = try #require(try await device.simulated.load())
            // The last byte of the signature.
            receipt[receipt.count - 1] ^= 1
            device.receipts.replace(by: receipt)
            let engine = try await device.engine(hasServer: false)
            let delegate = Witness()
            await engine.setDelegate(delegate)
            guard case .invalid = await engine.handle(transaction) else {
                Issue.record("it is not reported as invalid")
                return
            }
            #expect(delegate.seen.withLock { $0 } == ["false"])
            #expect(try await engine.purchases().isEmpty)
            #expect(try await device.unfinished() == 1)
            let id = try #require(transaction.transactionID)
            try await engine.discard(id)
            #expect(try await device.unfinished() == 0)
            #expect(try await engine.diagnostics().waiting.isEmpty)
            await #expect(throws: PurchaseError.self) { try await engine.discard("0") }
        }
    }

    @Test("1.3 A purchase goes to the customer who made it, not to one who cancelled and signed out")
    func cancelledByAnother() async throws {
        try await KitWorld.run { world in
            let device = try await world.device(isSigned: false)
            let engine = try await device.engine(isSignedIn: false)
            await engine.signIn(PurchaseCustomer(id: "alice"))
            try await device.mode("cancelled")
            #expect(await engine.buy("pro") == .cancelled)
            #expect(try await engine.diagnostics().startedPurchases == 0)
            try await device.mode("normal")
            await engine.signIn(PurchaseCustomer(id: "bob"))
            #expect(await engine.handle(try await device.sell("pro")).code == "granted")
            #expect(try device.link.customers() == ["bob"])
        }
    }

    @Test("1.3 A purchase that waits for another customer waits until they sign in")
    func pendingOfAnother() async throws {
        try await KitWorld.run { world in
            let device = try await world.device(isSigned: false)
            let engine = try await device.engine(isSignedIn: false)
            await engine.signIn(PurchaseCustomer(id: "alice"))
            try await device.mode("ask-to-buy")
            #expect(await engine.buy("pro") == .pending)
            await engine.start()
            await engine.signOut()
            await engine.signIn(PurchaseCustomer(id: "bob"))
            try await device.approve()
            let transaction = try #require(try await device.simulated.unfinished().first)
            let events = await KitEvents(engine)
            #expect(await engine.handle(transaction).code == "customer_unknown")
            await engine.retryNow()
            await engine.refreshEntitlements()
            #expect(try device.link.customers().isEmpty)
            #expect(try await events.names().contains("customer_needed"))
            await engine.signIn(PurchaseCustomer(id: "alice"))
            #expect(Set(try device.link.customers()) == ["alice"])
            #expect(try await engine.active() == ["pro"])
            #expect(try await world.entitlements(of: "bob").isEmpty)
        }
    }

    @Test("1.3 The owner of the original and the token come before a started purchase")
    func originalFirst() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(isSignedIn: false)
            let token = UUID()
            await engine.signIn(PurchaseCustomer(id: "alice", appAccountToken: token))
            #expect(await engine.buy("monthly").code == "granted")
            let id = try #require(try await device.lastTransaction())
            await engine.signIn(PurchaseCustomer(id: "bob", appAccountToken: UUID()))
            try await device.mode("ask-to-buy")
            #expect(await engine.buy("monthly") == .pending)
            try await device.simulated.control("subscriptions/\(id)/renew")
            let renewal = try #require(try await device.simulated.unfinished().last)
            #expect(await engine.handle(renewal).code == "customer_unknown")
            #expect(Set(try device.link.customers()) == ["alice"])
        }
    }

    @Test(
        "1.4 A delegate may call every function from every callback", .timeLimit(.minutes(10)),
        arguments: [true, false])
    func delegates(isCut: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            let delegate = BusyDelegate(engine, PurchaseCustomer(id: device.customer))
            await engine.setDelegate(delegate)
            if isCut { device.link.isCut(true) }
            let outcome = await engine.buy("coins")
            #expect(outcome.code == (isCut ? "connection_failed" : "granted"))
            #expect(delegate.seen.withLock { $0.first } == (isCut ? "connection_failed" : "true"))
            #expect(delegate.seen.withLock { $0.count } < 5)
            device.link.isCut(false)
            device.time.pass(60)
            await engine.retryDue()
            #expect(try await device.unfinished() == 0)
            #expect(try await engine.diagnostics().waiting.isEmpty)
            #expect(try await device.coins() == 1)
        }
    }

    @Test(
        "1.4 The closure that merges a guest, and that of an outcome, may call every function", .timeLimit(.minutes(10))
    )
    func closures() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(isSignedIn: false)
            let guest = try await engine.signInAsGuest()
            device.link.isCut(true)
            let first = await engine.buy("coins")
            #expect(first.code == "connection_failed")
            device.link.isCut(false)
            let customer = PurchaseCustomer(id: device.customer)
            let caller = BusyDelegate(engine, customer)
            let waiting = try #require(try await device.simulated.unfinished().first)
            try await engine.signIn(customer) { guestID, customerID in
                #expect(guestID == guest.id)
                await caller.didVerify(waiting, isValid: true)
                return try await world.merge(guestID, into: customerID)
            }
            _ = try await device.sell("pro")
            let second = try #require(try await device.simulated.unfinished().first { $0.productID == "pro" })
            #expect(await engine.handle(second).code == "granted")
            await caller.didVerify(second, isValid: true)
            #expect(try await engine.active() == ["coins", "pro"])
            #expect(try await device.unfinished() == 0)
        }
    }

    @Test("1.13 A purchase that the server does not count grants nothing and is finished", arguments: [true, false])
    func notCounted(isSigned: Bool) async throws {
        var app = KitWorld.app
        app.sandboxAccess = .testers
        try await KitWorld.run(app) { world in
            let device = try await world.device(isSigned: isSigned, environment: "sandbox")
            let engine = try await device.engine()
            let delegate = Witness()
            await engine.setDelegate(delegate)
            let events = await KitEvents(engine)
            for product in ["coins", "pro"] {
                let outcome = await engine.buy(product)
                guard case .notCounted(let error) = outcome else {
                    Issue.record("\(outcome)")
                    return
                }
                #expect(error.code.rawValue == "sandbox_not_accepted")
            }
            await engine.refreshEntitlements()
            #expect(delegate.seen.withLock { $0 } == ["false", "false"])
            #expect(try await engine.active().isEmpty)
            #expect(try await engine.balance(of: "coins") == 0)
            #expect(try await engine.purchases().isEmpty)
            #expect(try await device.unfinished() == 0)
            #expect(!(try await events.names().contains("granted")))
        }
    }

    @Test(
        "1.8 A look at the current evidence leaves a waiting purchase to its transaction, which is announced",
        arguments: [true, false])
    func announced(isSigned: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device(isSigned: isSigned)
            let transaction = try await device.sell("pro")
            let engine = try await device.engine(hasServer: false)
            let events = await KitEvents(engine)
            await engine.refreshEntitlements()
            #expect(try await engine.purchases().isEmpty)
            #expect(await engine.handle(transaction).code == "granted")
            #expect(
                try await events.all().contains {
                    if case .granted(let report) = $0 { report.productID == "pro" } else { false }
                })
            #expect(try await device.unfinished() == 0)
            // What is finished is taken from the evidence.
            let other = try await device.engine(hasServer: false, store: device.otherStore)
            await other.refreshEntitlements()
            #expect(try await other.purchases().map(\.productID) == ["pro"])
        }
    }
}
