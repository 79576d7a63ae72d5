import Foundation
import PurchaseKit
import PurchaseKitSimulator
import Testing

extension StoreKitAdapterTests {
    /// The queue for debug builds, as the tutorial begins with it.
    @Suite("The simulator's queue")
    struct SimulatorQueueTests {
        private func engine(_ store: SimulatedStore) async throws -> PurchaseEngine {
            PurchaseEngine(
                queue: SimulatorQueue(store, pause: 0.02), receipts: SimulatorReceipt(store),
                verifier: DeviceVerifier(
                    app: AppIdentity(bundleID: "com.example.app", version: "1.0"), device: SimulatorDevice(store),
                    anchors: try await store.anchors()),
                server: nil, store: MemoryPurchaseStore())
        }

        @Test("10 A purchase with an offer ends before the customer pays the full price")
        func offer() async throws {
            try await Simulator.run { simulator in
                let engine = try await engine(simulator.store)
                for offer in StoreKitAdapterTests.QueueTests.offers {
                    #expect(await engine.buy("monthly", offer: offer).code == "queue_failed")
                }
                #expect(try await SimulatorQueue(simulator.store).current()?.isEmpty == true)
                #expect(await engine.buy("monthly").isGranted)
            }
        }

        @Test("3 An app buys at the simulator's store and sees a refund, with no more than its queue")
        func refund() async throws {
            try await Simulator.run { simulator in
                let queue = SimulatorQueue(simulator.store)
                #expect(await queue.environment() == "Production")
                #expect(try await queue.products(["monthly", "nothing"]).map(\.period) == [PurchasePeriod(1, .month)])
                let engine = try await engine(simulator.store)
                let run = Task { await engine.run() }
                defer { run.cancel() }
                #expect(await engine.buy("pro").isGranted)
                #expect(await engine.buy("coins", quantity: 3).isGranted)
                #expect(try await engine.balance(of: "coins") == 3)
                #expect(try await queue.unfinished().isEmpty)
                let id = try #require(try await engine.purchases().first { $0.productID == "pro" }).key.transactionID
                let updates = engine.entitlementUpdates()
                try await simulator.post("control/transactions/\(id)/refund", [:], isControl: true)
                for await entitlements in updates {
                    if !entitlements.contains(where: { $0.productID == "pro" && $0.isActive }) { break }
                }
                #expect(try await queue.current()?.isEmpty == true)
                // A second device of the customer has nothing, and the subscription without a tap.
                #expect(await engine.buy("monthly").isGranted)
                let second = try await self.engine(simulator.store)
                await second.start()
                let shown = try await second.entitlements().filter(\.isActive)
                #expect(shown.map(\.productID) == ["monthly"] && shown.first?.renewal?.autoRenew == true)
            }
        }
    }
}
