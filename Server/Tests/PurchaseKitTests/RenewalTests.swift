import Foundation
import KitTestSupport
import PurchaseKit
import Testing

/// What a subscription's screen says about the next renewal.
@Suite("The renewal of a subscription")
struct RenewalTests {
    /// What an engine shows now, and its content without the date of the signature.
    private func renewal(_ engine: PurchaseEngine, of product: String = "monthly") async throws -> PurchaseRenewal? {
        await engine.refreshEntitlements()
        return try await engine.entitlements().first { $0.productID == product }?.renewal
    }

    @Test("3 A subscription shows its renewal, by the server's answer as by signed renewal info alone")
    func bothWays() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let served = try await device.engine()
            let alone = try await device.engine(hasServer: false, store: device.otherStore)
            #expect(await served.buy("yearly").code == "granted")
            let id = try #require(try await device.lastTransaction())
            let steps: [(path: String, body: [String: String], autoRenew: Bool, next: String)] = [
                ("", [:], true, "yearly"), ("cancel", [:], false, "yearly"), ("resume", [:], true, "yearly"),
                ("change-product", ["product_id": "monthly"], true, "monthly"),
            ]
            for step in steps {
                if !step.path.isEmpty {
                    try await device.simulated.control("subscriptions/\(id)/\(step.path)", step.body)
                }
                // Each statement is signed later than the one before.
                try await world.pass(days: 0.01, device)
                // No day has passed: the news itself is the reason to ask.
                var shown: [PurchaseRenewal] = []
                for engine in [served, alone] {
                    let until = try await engine.entitlements().first { $0.productID == "yearly" }?.until
                    var renewal = try #require(try await renewal(engine, of: "yearly"), "\(step)")
                    #expect(renewal.autoRenew == step.autoRenew && renewal.nextProduct == step.next, "\(step)")
                    #expect(until == nil || renewal.renewsAt == nil || renewal.renewsAt == until, "\(step)")
                    #expect(renewal.graceUntil == nil && renewal.billingRetry != true, "\(step)")
                    renewal.signedAt = .distantPast
                    shown.append(renewal)
                }
                #expect(shown[0] == shown[1], "\(step)")
            }
            // Offline, and after a new launch.
            device.link.isCut(true)
            let launched = try await device.engine()
            #expect(
                try await launched.entitlements().first { $0.productID == "yearly" }?.renewal?.nextProduct == "monthly")
        }
    }

    @Test("3 A failed payment is shown with the end of its grace period", arguments: [true, false])
    func failedPayment(hasServer: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(hasServer: hasServer)
            #expect(await engine.buy("monthly").code == "granted")
            let id = try #require(try await device.lastTransaction())
            try await device.simulated.control("subscriptions/\(id)/billing", ["works": false])
            try await world.pass(days: 33, device)
            let renewal = try #require(try await renewal(engine))
            let until = try await engine.entitlements().first { $0.productID == "monthly" }?.until
            #expect(renewal.billingRetry == true && renewal.graceUntil == until)
        }
    }

    @Test("3 Renewal info that is signed again without news is no change", arguments: [true, false])
    func signedAgain(hasServer: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(hasServer: hasServer)
            #expect(await engine.buy("monthly").code == "granted")
            let first = try #require(try await renewal(engine))
            let events = await KitEvents(engine)
            try await world.pass(days: 2, device)
            let id = try #require(try await device.lastTransaction())
            // The store signs each state, and the last one is the first again.
            for action in ["cancel", "resume"] { try await device.simulated.control("subscriptions/\(id)/\(action)") }
            let again = try #require(try await renewal(engine))
            #expect(again.signedAt > first.signedAt && again.autoRenew == first.autoRenew)
            #expect(try await !events.names().contains("entitlements_changed"))
        }
    }

    @Test("3 What is no subscription shows no renewal", arguments: [true, false])
    func otherProducts(hasServer: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(hasServer: hasServer)
            #expect(await engine.buy("pro").code == "granted")
            #expect(await engine.buy("coins").code == "granted")
            await engine.refreshEntitlements()
            #expect(try await engine.entitlements().allSatisfy { $0.renewal == nil })
        }
    }
}
