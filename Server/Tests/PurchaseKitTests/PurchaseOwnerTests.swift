import Foundation
import KitTestSupport
import PurchaseKit
import PurchaseLedger
import PurchaseMessages
import Synchronization
import Testing

/// Rule 3 of the kit: to whom a purchase belongs, by its token, by its original, and by who started it, in this order.
@Suite("The owner of a purchase")
struct PurchaseOwnerTests {
    @Test(
        "1.3 A renewal goes to the owner of its original, also if somebody else has a started purchase",
        arguments: [true, false])
    func original(isSigned: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device(isSigned: isSigned)
            let engine = try await device.engine(isSignedIn: false)
            await engine.signIn(PurchaseCustomer(id: "alice"))
            #expect(await engine.buy("monthly").code == "granted")
            await engine.start()
            let id = try #require(try await device.lastTransaction())
            await engine.signIn(PurchaseCustomer(id: "bob"))
            try await device.mode("ask-to-buy")
            #expect(await engine.buy("monthly") == .pending)
            try await device.simulated.control("subscriptions/\(id)/renew")
            // A renewal in the store writes no receipt on the device.
            if !isSigned { try await device.simulated.refresh() }
            let renewal = try #require(try await device.simulated.unfinished().last)
            #expect(renewal.transactionID != id)
            let sent = device.link.paths.count
            #expect(await engine.handle(renewal).code == "customer_unknown")
            #expect(try device.link.customers().dropFirst(sent).isEmpty)
            // Bob's own may still be approved.
            #expect(try await engine.diagnostics().startedPurchases == 1)
            await engine.signIn(PurchaseCustomer(id: "alice"))
            #expect(Set(try device.link.customers().dropFirst(sent)) == ["alice"])
            #expect(try await device.unfinished() == 0)
        }
    }

    @Test(
        "1.3 What another customer of the app has is not given to the one who buys it again", arguments: [true, false],
        [true, false])
    func boughtAgain(hasToken: Bool, isKnown: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let (token, other) = (hasToken ? UUID() : nil, hasToken ? UUID() : nil)
            let first = try await device.engine(isSignedIn: false)
            await first.signIn(PurchaseCustomer(id: "alice", appAccountToken: token))
            device.link.isCut(!isKnown)
            #expect(await first.buy("pro").isGranted == isKnown)
            device.link.isCut(false)
            let id = try #require(try await device.lastTransaction())
            let owned = try await device.simulated.stored(id)
            device.queue.owned.withLock { $0 = owned }
            for engine in [first, try await device.engine(isSignedIn: false)] {
                await engine.signIn(PurchaseCustomer(id: "bob", appAccountToken: other))
                let sent = device.link.paths.count
                let outcome = await engine.buy("pro")
                #expect(outcome.code == "owned_by_another")
                #expect(!(try device.link.customers().dropFirst(sent).contains("bob")))
                #expect(try await engine.active().isEmpty)
                #expect(try await engine.diagnostics().startedPurchases == 0)
            }
            #expect(try await world.entitlements(of: "bob").isEmpty)
        }
    }

    @Test("1.3 A receipt with somebody else's purchases is not sent by a look, so `transfer: move` takes nothing")
    func receipt() async throws {
        var app = KitWorld.app
        app.transfer = .move
        try await KitWorld.run(app) { world in
            let device = try await world.device(isSigned: false)
            let engine = try await device.engine(isSignedIn: false)
            await engine.signIn(PurchaseCustomer(id: "alice"))
            await engine.start()
            #expect(await engine.buy("pro").code == "granted")
            let sent = device.link.paths.count
            for engine in [engine, try await device.engine(isSignedIn: false)] {
                await engine.signIn(PurchaseCustomer(id: "bob"))
                await engine.start()
                await engine.refreshEntitlements(evenIfKnown: true)
                #expect(device.link.paths.count == sent)
                #expect(try await engine.active().isEmpty)
            }
            #expect(try await world.entitlements(of: "alice").map(\.state.rawValue) == ["active"])
            await engine.signIn(PurchaseCustomer(id: "alice"))
            #expect(try await engine.active() == ["pro"])
        }
    }
}
