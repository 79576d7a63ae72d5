#if DEBUG
    import EvidenceMint
    import Foundation
    import PurchaseKit
    import TestSupport
    import Testing

    /// Xcode's store and a queue in memory, in debug builds.
    @Suite("Debug builds", .timeLimit(.minutes(10)))
    struct DebugBuildTests {
        /// A probe whose store is Xcode's.
        private static func xcode() throws -> Probe {
            let probe = try Probe()
            let signer = try MintedWorld.xcodeSigner()
            probe.queue.environmentName.change { $0 = "Xcode" }
            probe.queue.signs.change { $0 = { try signer.encode($0.asXcodeWritesIt) } }
            return probe
        }

        @Test("In Xcode's store StoreKit's verdict counts, and nothing is refreshed")
        func granted() async throws {
            let probe = try Self.xcode()
            let engine = try probe.engine(hasServer: false)
            #expect(await engine.buy("coins", quantity: 3).code == "granted")
            #expect(await engine.buy("yearly").code == "granted")
            #expect(try await engine.balance(of: "coins") == 3)
            #expect(try await engine.active() == ["coins", "yearly"])
            // Bought on another device, and refunded.
            let pro = try probe.queue.sell("pro")
            await engine.refreshEntitlements()
            #expect(try await engine.active().contains("pro"))
            var refunded = pro
            refunded.revocationDate = probe.time.now
            #expect(await engine.handle(refunded).code == "purchase_revoked")
            #expect(try await !engine.active().contains("pro"))
            #expect(probe.receipts.refreshes.value == 0)
        }

        @Test("What StoreKit did not verify, what has another environment, and what a server decides does not count")
        func notGranted() async throws {
            let probe = try Self.xcode()
            var unverified = try probe.queue.sell("pro")
            unverified.isVerifiedByStoreKit = false
            #expect(await !(try probe.engine(hasServer: false)).handle(unverified).isGranted)
            var sandbox = try probe.queue.sell("pro")
            sandbox.environment = "Sandbox"
            #expect(await !(try probe.engine(hasServer: false, store: ProbeStore())).handle(sandbox).isGranted)
            probe.server.isCut.change { $0 = true }
            let engine = try probe.engine(store: ProbeStore())
            #expect(await engine.buy("pro").code == "connection_failed")
            #expect(try await engine.active().isEmpty)
        }

        @Test("A queue in memory sells, waits, cancels, refunds and delivers")
        func memory() async throws {
            let queue = MemoryPurchaseQueue([
                PurchaseProduct(productID: "coins", kind: .consumable, name: "Coins", price: 1, priceText: "$1.00"),
                PurchaseProduct(productID: "pro", kind: .nonConsumable, name: "Pro", price: 9, priceText: "$9.00"),
                PurchaseProduct(productID: "pass", name: "Pass", price: 5, priceText: "$5.00"),
            ])
            let engine = PurchaseEngine(inMemory: queue, lengths: ["pass": PurchasePeriod(1, .month)])
            let run = Task { await engine.run() }
            defer { run.cancel() }
            #expect(await engine.buy("coins", quantity: 2).isGranted)
            queue.ends = .cancelled
            #expect(await engine.buy("pro") == .cancelled)
            queue.ends = .pending
            #expect(await engine.buy("pro") == .pending)
            queue.ends = nil
            #expect(try await engine.active() == ["coins"])
            try await wait {
                queue.deliver("pro")
                return try await engine.active() == ["coins", "pro"]
            }
            queue.refund("pro")
            try await wait { try await engine.active() == ["coins"] }
            #expect(try await engine.balance(of: "coins") == 2)
            #expect(await engine.buy("nothing").code == "queue_failed")
            #expect(await engine.buy("pass").isGranted)
            #expect(try await engine.entitlements().first { $0.productID == "pass" }?.until != nil)
        }

        @Test("A model for previews shows what it is given")
        @MainActor
        func preview() {
            let model = PurchaseModel.preview(active: ["pro"], balances: ["coins": 3])
            #expect(model.isLoaded && model.isActive("pro") && model.balance("coins") == 3 && !model.isActive("other"))
        }
    }
#endif
