import Foundation
import KitTestSupport
import PurchaseKit
import Synchronization
import Testing

/// Rule 2 of the kit for signed transactions that a device without a server cannot verify: the receipt has another
/// signature.
@Suite("A receipt in the place of a signed transaction")
struct ReceiptProofTests {
    @Test("1.2 A purchase of this run is proved by the receipt, which is refreshed once")
    func refreshed() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            device.queue.isGarbled.withLock { $0 = true }
            device.receipts.replace(by: Self.unreadable)
            let engine = try await device.engine(hasServer: false)
            #expect(await engine.buy("coins").code == "granted")
            #expect(device.receipts.refreshes == 1)
            #expect(try await device.unfinished() == 0)
            #expect(try await engine.balance(of: "coins") == 1)
        }
    }

    @Test("1.2 Where the receipt proves nothing, either, nothing is finished, and the first reason is reported")
    func noProof() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            device.queue.isGarbled.withLock { $0 = true }
            device.receipts.replace(by: Self.unreadable)
            device.receipts.cancelRefreshes()
            let engine = try await device.engine(hasServer: false)
            let outcome = await engine.buy("coins")
            guard case .undetermined(let error) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(error.code.rawValue == "evidence_unrecognized")
            device.receipts.replace(by: Self.unreadable)
            await engine.retryNow()
            #expect(device.receipts.refreshes == 1)
            #expect(try await device.unfinished() == 1)
        }
    }

    @Test("1.2 A receipt from before a refund does not stand for the signed transaction that says it")
    func refunded() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let id = try #require(try await device.sell("pro").transactionID)
            let receipt = try await device.simulated.load()
            try await device.simulated.control("transactions/\(id)/refund")
            device.receipts.replace(by: receipt)
            var refunded = try await device.simulated.stored(id)
            refunded.signedTransaction = "garbled"
            let engine = try await device.engine(hasServer: false)
            let outcome = await engine.handle(refunded)
            guard case .undetermined = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(try await engine.active().isEmpty)
        }
    }

    @Test("1.2 What StoreKit itself refused is not proved by the receipt")
    func refusedByStoreKit() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            var transaction = try await device.sell("coins")
            transaction.isVerifiedByStoreKit = false
            let engine = try await device.engine(hasServer: false)
            #expect(await engine.handle(transaction).code == "unverified_by_store_kit")
            #expect(try await engine.balance(of: "coins") == 0)
        }
    }

    private static let unreadable = [UInt8](repeating: 0x30, count: 16)
}
