import Foundation
import KitTestSupport
import PurchaseAPI
import PurchaseKit
import Synchronization
import Testing

/// What is shown follows the newest news that can be had without a password prompt.
@Suite("The newest news")
struct NewestNewsTests {
    @Test("1.1 Daily launches keep a subscription active beyond the eighth day, with one request a day")
    func dailyLaunches() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let first = try await device.engine()
            #expect(await first.buy("monthly").code == "granted")
            await first.start()
            for day in 1...9 {
                try await world.pass(days: 1.01, device)
                let sent = device.link.paths.count
                let engine = try await device.engine()
                await engine.start()
                #expect(try await engine.active() == ["monthly"], "day \(day)")
                #expect(device.link.paths.dropFirst(sent) == ["/v1/restores"], "day \(day)")
                // Nothing is new within the day.
                await engine.refreshEntitlements()
                try await device.engine().start()
                #expect(device.link.paths.count == sent + 1, "day \(day)")
            }
            #expect(device.receipts.refreshes == 0)
        }
    }

    @Test(
        "1.1 A second device shows what the first one bought, without a tap", arguments: [true, false], [true, false])
    func secondDevice(hasServer: Bool, isSigned: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device(isSigned: isSigned)
            let first = try await device.engine(hasServer: hasServer)
            #expect(await first.buy("pro").code == "granted")
            #expect(await first.buy("monthly").code == "granted")
            let second = try await device.engine(hasServer: hasServer, store: device.otherStore)
            let events = await KitEvents(second)
            #expect(try await second.active().isEmpty)
            await second.start()
            #expect(try await second.active() == ["monthly", "pro"])
            #expect(device.receipts.refreshes == 0)
            #expect(try await events.names().contains("entitlements_changed"))
        }
    }

    @Test("1.1 A renewal that another device finished is shown", arguments: [true, false])
    func renewedElsewhere(hasServer: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(hasServer: hasServer)
            #expect(await engine.buy("monthly").code == "granted")
            try await world.pass(days: 32, device)
            for transaction in try await device.simulated.unfinished() {
                try await device.simulated.finish(transaction)
            }
            #expect(try await engine.active().isEmpty)
            await engine.refreshEntitlements()
            #expect(try await engine.active() == ["monthly"])
        }
    }

    @Test("1.1 The app looks when it comes to the foreground and when the network returns", .timeLimit(.minutes(10)))
    func moments() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let life = KitLife()
            let engine = try await device.engine(life: life)
            let run = Task { await engine.run() }
            defer { run.cancel() }
            func waits(_ reads: Int) async throws {
                while device.queue.reads.withLock({ $0 }) < reads { try await device.settle() }
            }
            try await waits(1)
            try await device.simulated.finish(try await device.sell("pro"))
            life.send(.foreground)
            try await waits(2)
            while try await engine.active() != ["pro"] { try await device.settle() }
            device.link.isCut(true)
            #expect(await engine.buy("coins").code == "connection_failed")
            // The queue brings it, too, on a busy machine while the purchase is sent; from then on, only the clock and
            // the network are a reason to send it again.
            for _ in 0..<250 {
                guard device.link.paths.count(where: { $0 == "/v1/purchases" }) < 2 else { break }
                try await device.settle()
            }
            while try await engine.diagnostics().waiting.first?.attempts ?? 0 < 1 { try await device.settle() }
            device.link.isCut(false)
            life.send(.network)
            while try await device.unfinished() > 0 { try await device.settle() }
            try await waits(3)
        }
    }

    @Test("1.1 A look at the receipt takes no order from a purchase that waits")
    func orderWaits() async throws {
        try await KitWorld.run { world in
            let device = try await world.device(isSigned: false)
            let order = try await world.order("pro", for: device.customer)
            let engine = try await device.engine()
            device.link.isCut(true)
            let paid = PurchaseOrder(orderID: order.orderID, appAccountToken: UUID(uuidString: order.appAccountToken))
            #expect(await engine.buy("pro", order: paid).code == "connection_failed")
            device.link.isCut(false)
            await engine.refreshEntitlements()
            #expect(try await engine.active() == ["pro"])
            await engine.retryNow()
            #expect(try await world.order(order.orderID).status.rawValue == "paid")
            #expect(try await device.unfinished() == 0)
        }
    }

    @Test("1.1 A grace period counts as Apple states it, and ends with it", arguments: [true, false])
    func grace(hasServer: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(hasServer: hasServer)
            #expect(await engine.buy("monthly").code == "granted")
            let id = try #require(try await device.lastTransaction())
            try await device.simulated.control("subscriptions/\(id)/billing", ["works": false])
            try await world.pass(days: 33, device)
            await engine.refreshEntitlements()
            #expect(try await engine.active() == ["monthly"])
            // Offline, to the end of the grace and no further.
            device.link.isCut(true)
            try await world.pass(days: 7, device)
            #expect(try await engine.active() == ["monthly"])
            try await world.pass(days: 14, device)
            #expect(try await engine.active().isEmpty)
        }
    }

    @Test("1.1 What has no end counts offline without limit, and what has an end at most 30 days")
    func limits() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            #expect(await engine.buy("yearly").code == "granted")
            #expect(await engine.buy("pro").code == "granted")
            device.link.isCut(true)
            try await world.pass(days: 29, device)
            #expect(try await engine.active() == ["pro", "yearly"])
            try await world.pass(days: 2, device)
            #expect(try await engine.active() == ["pro"])
            try await world.pass(days: 300, device)
            #expect(try await engine.active() == ["pro"])
            device.link.isCut(false)
            await engine.refreshEntitlements()
            #expect(try await engine.active() == ["pro", "yearly"])
        }
    }

    @Test("1.1 A refund that the device sees ends the purchase also without network")
    func refundOffline() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine()
            #expect(await engine.buy("pro").code == "granted")
            let id = try #require(try await device.lastTransaction())
            try await device.simulated.control("transactions/\(id)/refund")
            device.link.isCut(true)
            try await world.pass(days: 0.1, device)
            #expect(await engine.handle(try await device.simulated.stored(id)).code == "connection_failed")
            #expect(try await engine.active().isEmpty)
            device.link.isCut(false)
            await engine.retryNow()
            #expect(try await engine.active().isEmpty)
        }
    }

    @Test("1.7 A purchase of the sandbox does not count in the App Store's build", arguments: [true, false])
    func environments(hasServer: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device(environment: "sandbox")
            let inTestFlight = try await device.engine(hasServer: hasServer)
            #expect(await inTestFlight.buy("pro").code == "granted")
            #expect(try await inTestFlight.active() == ["pro"])
            device.queue.otherEnvironment.withLock { $0 = "Production" }
            let inAppStore = try await device.engine(hasServer: hasServer)
            await inAppStore.start()
            #expect(try await inAppStore.active().isEmpty)
            // Production counts everywhere: somebody paid for it.
            let paying = try await world.device()
            #expect(try await paying.engine(hasServer: hasServer).buy("pro").code == "granted")
            paying.queue.otherEnvironment.withLock { $0 = "Sandbox" }
            let there = try await paying.engine(hasServer: hasServer)
            await there.start()
            #expect(try await there.active() == ["pro"])
        }
    }
}
