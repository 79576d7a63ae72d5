import Foundation
import KitTestSupport
import PurchaseKit
import Synchronization
import Testing

@Suite("Products that customers choose on the App Store, and restores that they cancel")
struct ChosenProductTests {
    @Test(
        "A product that was chosen on the App Store waits for the app's first listener, and comes once; a model, a screen and the log are none"
    )
    func waits() async throws {
        try await KitWorld.run { world in
            let engine = try await world.device().engine()
            let model = await PurchaseModel(engine)
            let screen = Task { for await _ in engine.entitlementUpdates() {} }
            defer { screen.cancel() }
            await engine.promote("monthly")
            await engine.promote("pro", offer: .winBack(id: "back"))
            var first = await engine.events().makeAsyncIterator()
            var second = await engine.events().makeAsyncIterator()
            await engine.promote("coins")
            #expect(await next(&first) == .promoted(productID: "pro", offer: .winBack(id: "back")))
            #expect(await next(&first) == .promoted(productID: "coins", offer: nil))
            #expect(await next(&second) == .promoted(productID: "coins", offer: nil))
            withExtendedLifetime(model) {}
        }
    }

    @Test("A product that was chosen more than five minutes before the app listens is forgotten")
    func forgotten() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            await engine.promote("pro")
            try await world.pass(days: 1, device)
            var events = await engine.events().makeAsyncIterator()
            await engine.promote("coins")
            #expect(await next(&events) == .promoted(productID: "coins", offer: nil))
        }
    }

    private func next(_ events: inout AsyncStream<PurchaseEvent>.Iterator) async -> PurchaseEvent? {
        while let event = await events.next() { if case .promoted = event { return event } }
        return nil
    }

    @Test("A restore whose sign-in the customer leaves is cancelled, and another error is a failure")
    func cancelledRestore() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            for (error, code) in [
                (PurchaseError(.queueFailed, NSError(domain: "SKErrorDomain", code: 2)), "payment_cancelled"),
                (PurchaseError(.paymentCancelled), "payment_cancelled"),
                (PurchaseError(.queueFailed, NSError(domain: "SKErrorDomain", code: 0)), "queue_failed"),
            ] {
                device.queue.refusal.withLock { $0 = error }
                #expect(await engine.restore().error?.code.rawValue == code)
            }
        }
    }
}
