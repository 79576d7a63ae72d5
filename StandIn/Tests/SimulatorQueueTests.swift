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

        @Test("10 A purchase with an offer that the customer may not have ends before they pay the full price")
        func refusedOffer() async throws {
            try await Simulator.run { simulator in
                let engine = try await engine(simulator.store)
                for offer in StoreKitAdapterTests.QueueTests.offers {
                    #expect(await engine.buy("monthly", offer: offer).code == "queue_failed")
                }
                #expect(try await SimulatorQueue(simulator.store).current()?.isEmpty == true)
                #expect(await engine.buy("monthly").isGranted)
            }
        }

        @Test("6 A purchase at the simulator's store uses its introductory, promotional or win-back offer")
        func offers() async throws {
            try await Simulator.run { simulator in
                let offers = [("first", "introductory"), ("half", "promotional"), ("back", "win-back")].map {
                    ["offer_id": $0, "kind": $1, "mode": "FREE_TRIAL", "period": "P1W"]
                }
                try await simulator.post(
                    "control/products",
                    [
                        "bundle_id": "com.example.app", "product_id": "weekly", "kind": "auto-renewable", "price": 1990,
                        "subscription": ["group_id": "papers", "period": "P1W", "offers": offers],
                    ], isControl: true)
                let queue = SimulatorQueue(simulator.store)
                let listed = try await queue.products(["weekly"]).first?.offers ?? []
                #expect(listed.map(\.kind) == [.introductory, .promotional, .winBack])
                #expect(listed.map(\.offerID) == [nil, "half", "back"])
                let types = ["introductory": 1, "promotional": 2, "winBack": 4]
                let signature = StoreKitAdapterTests.QueueTests.offers
                // In this order: only a former subscriber may have the others.
                for offer in [signature[2], signature[0], signature[3], signature[1]] {
                    let result = try await queue.buy(PurchasePayment(productID: "weekly", offer: offer))
                    guard case .purchased(let sold) = result, let id = sold.originalTransactionID else {
                        Issue.record("\(result)")
                        return
                    }
                    let kind = types.first { "\(offer)".hasPrefix($0.key) }
                    #expect(try Self.offerType(sold) == kind?.value, "\(offer)")
                    try await queue.finish(sold)
                    try await simulator.post("control/subscriptions/\(id)/cancel", [:], isControl: true)
                    try await simulator.post("control/clock", ["advance_seconds": 9 * 86_400], isControl: true)
                }
            }
        }

        /// The type of the offer, as the signed transaction states it.
        private static func offerType(_ transaction: PaymentTransaction) throws -> Int? {
            let parts = (transaction.signedTransaction ?? "").split(separator: ".")
            var text = parts.count == 3 ? String(parts[1]) : ""
            text = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
            text += String(repeating: "=", count: (4 - text.count % 4) % 4)
            let payload = try JSONSerialization.jsonObject(with: try #require(Data(base64Encoded: text)))
            return (payload as? [String: Any])?["offerType"] as? Int
        }

        @Test("3 An app buys at the simulator's store and sees a refund, with no more than its queue")
        func refund() async throws {
            try await Simulator.run { simulator in
                let queue = SimulatorQueue(simulator.store)
                #expect(await queue.environment() == "Production")
                #expect(try await queue.products(["monthly", "nothing"]).map(\.period) == [PurchasePeriod(1, .month)])
                let engine = try await engine(simulator.store)
                #expect(try await engine.products(["pro", "coins"]).map(\.productID) == ["pro", "coins"])
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
