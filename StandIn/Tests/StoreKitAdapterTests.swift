import Crypto
import Foundation
import PurchaseKit
import PurchaseVerification
import StoreKit
import StoreKitAdapters
import TestSupport
import Testing

/// The adapters, compiled from the sources that are shipped, against the stand-in, which is a client of a simulator
/// that runs as a process. One test after the other, because a process has one store.
@Suite(
    "The StoreKit adapters", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: Simulator.program != nil, "build the program first: make build"))
struct StoreKitAdapterTests {
    @Test("StoreKit 2: a purchase, an update and a restore end granted and finished")
    func storeKit2() async throws {
        try await Simulator.run { simulator in
            let engine = try simulator.engine(StoreKit2Queue(), NoReceiptSource())
            let outcome = await engine.buy("coins", quantity: 2)
            #expect(outcome.isGranted, "\(outcome)")
            #expect(try await engine.balance(of: "coins") == 2)
            let run = Task { await engine.run() }
            defer { run.cancel() }
            let events = await engine.events()
            try await Task.sleep(nanoseconds: 200_000_000)
            // Bought on another device.
            try await simulator.post("app/purchases", ["product_id": "pro"])
            for await event in events { if case .granted(let report) = event, report.productID == "pro" { break } }
            while try await StoreKit2Queue().unfinished().count > 0 { try await Task.sleep(nanoseconds: 20_000_000) }
            let summary = await engine.restore()
            #expect(summary.granted.map(\.productID) == ["pro"] && summary.error == nil, "\(summary)")
            #expect(await engine.buy("nothing").code == "queue_failed")
        }
    }

    @Test(
        "The original API: StoreKit 2's signed transaction proves the purchase, and without a receipt nothing is refreshed"
    )
    func signedProof() async throws {
        try await Simulator.run { simulator in
            let receipt = simulator.folder.appendingPathComponent("receipt")
            let queue = OriginalQueue(shouldAddStorePayment: { $0 == "pro" })
            try await Self.buy("pro", with: try simulator.engine(queue, DeviceReceipt(file: receipt)), queue)
            #expect(!FileManager.default.fileExists(atPath: receipt.path))
            #expect(SKPaymentQueue.default().offer("pro").contains(true))
            #expect(!SKPaymentQueue.default().offer("coins").suffix(1).contains(true))
        }
    }

    @Test("The original API: a transaction's own receipt proves it where there is no app receipt")
    func transactionReceipt() async throws {
        try await Simulator.run { simulator in
            let queue = OriginalQueue(prefersSignedTransactions: false)
            let receipt = DeviceReceipt(file: simulator.folder.appendingPathComponent("receipt"))
            try await Self.buy("pro", with: try simulator.engine(queue, receipt), queue)
        }
    }

    @Test("The original API: a restored transaction with an id of its own is no second purchase, and can be withdrawn")
    func restored() async throws {
        try await Simulator.run { simulator in
            let queue = OriginalQueue()
            let engine = try simulator.engine(
                queue, DeviceReceipt(file: simulator.folder.appendingPathComponent("receipt")))
            try await Self.buy("pro", with: engine, queue)
            try await DeviceReceipt(file: simulator.folder.appendingPathComponent("receipt")).refresh()
            let summary = await engine.restore()
            #expect(summary.granted.map(\.productID) == ["pro"] && summary.error == nil, "\(summary)")
            #expect(try await engine.purchases().count == 1)
            let events = await engine.events()
            let run = Task { await engine.run() }
            defer { run.cancel() }
            try await Task.sleep(nanoseconds: 200_000_000)
            SKPaymentQueue.default().withdraw(["pro"])
            for await event in events { if case .revoked = event { break } }
            #expect(try await engine.entitlements().map(\.isActive) == [false])
        }
    }

    @Test("The app transaction is verified, beside a receipt", arguments: [true, false])
    func appTransaction(isForged: Bool) async throws {
        try await Simulator.run { simulator in
            let file = simulator.folder.appendingPathComponent("receipt")
            let receipt = DeviceReceipt(file: file)
            try await simulator.post("app/purchases", ["product_id": "pro"])
            try await receipt.refresh()
            #expect(FileManager.default.fileExists(atPath: file.path))
            var signed = try #require(try await receipt.appTransaction()).signed
            if isForged { signed = signed.dropLast(8) + "AAAAAAAA" }
            let engine = try simulator.engine(StoreKit2Queue(), receipt)
            #expect(try await engine.verifiedReceipt() != nil)
            do {
                try await engine.verify(appTransaction: signed)
                #expect(!isForged)
            } catch let error as PurchaseError {
                #expect(isForged && error.code.rawValue == "signature_invalid", "\(error)")
            }
        }
    }

    /// Buys a product by the original API, and waits until it is granted and finished.
    private static func buy(_ product: String, with engine: PurchaseEngine, _ queue: OriginalQueue) async throws {
        let events = await engine.events()
        let run = Task { await engine.run() }
        defer { run.cancel() }
        #expect(await engine.buy(product) == .queued)
        for await event in events { if case .granted = event { break } }
        while try await queue.unfinished().count > 0 { try await Task.sleep(nanoseconds: 20_000_000) }
    }

    @Test("The original API: the queue delivers, the receipt proves, and a failed payment leaves the queue")
    func originalAPI() async throws {
        try await Simulator.run { simulator in
            let queue = OriginalQueue(prefersSignedTransactions: false)
            let receipt = DeviceReceipt(file: simulator.folder.appendingPathComponent("receipt"))
            // A receipt without the purchase, which is refreshed once.
            try await receipt.refresh()
            let engine = try simulator.engine(queue, receipt)
            let events = await engine.events()
            let run = Task { await engine.run() }
            defer { run.cancel() }
            #expect(await engine.buy("coins") == .queued)
            for await event in events { if case .granted = event { break } }
            while try await queue.unfinished().count > 0 { try await Task.sleep(nanoseconds: 20_000_000) }
            #expect(try await engine.balance(of: "coins") == 1)
            try await simulator.post("control/payments/mode", ["mode": "interrupted"], isControl: true)
            _ = await engine.buy("coins")
            // The customer may still complete it, so it is not cancelled.
            for await event in events {
                if case .failed(let report, let error) = event {
                    #expect(report.productID == "coins" && error.code == .paymentFailed)
                    #expect(error.cause == PurchaseError.Cause(domain: "SKErrorDomain", code: 0))
                    break
                }
                #expect(event.name != "cancelled")
            }
            while try await queue.unfinished().count > 0 { try await Task.sleep(nanoseconds: 20_000_000) }
            #expect(try await engine.balance(of: "coins") == 1)
        }
    }
}
