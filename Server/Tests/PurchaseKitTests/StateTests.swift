import Foundation
import KitTestSupport
import PurchaseAPI
import PurchaseKit
import PurchaseVerification
import Testing

/// Every state of a transaction, the orders in which its events arrive, and the refresh of the receipt.
@Suite("The states of a transaction")
struct StateTests {
    @Test("Each ends with the purchase granted once or not at all, and finished exactly then", arguments: cases)
    func table(_ line: KitCase) async throws { try await line.check() }

    static let cases: [KitCase] = [
        KitCase("A purchase is granted", codes: ["granted"]) { device in
            [try await device.engine().buy("coins").code]
        },
        KitCase("A transaction in the state purchasing is not touched", coins: 0, codes: ["pending"]) { device in
            let purchasing = PaymentTransaction(transactionID: nil, productID: "coins", state: .purchasing)
            return [try await device.engine().handle(purchasing).code]
        },
        KitCase(
            "A failed payment leaves the queue, and a later purchase is granted", codes: ["payment_failed", "granted"]
        ) {
            device in
            let engine = try await device.engine()
            let failed = PaymentTransaction(transactionID: nil, productID: "coins", state: .failed)
            return [await engine.handle(failed).code, await engine.buy("coins").code]
        },
        KitCase("A cancelled payment grants nothing", coins: 0, codes: ["cancelled"]) { device in
            try await device.mode("cancelled")
            return [try await device.engine().buy("coins").code]
        },
        KitCase("Ask to buy is granted when a parent approves, in another run", codes: ["pending", "granted"]) {
            device in
            try await device.mode("ask-to-buy")
            let first = try await device.engine().buy("coins", order: nil)
            _ = try await device.engine().handle(
                PaymentTransaction(transactionID: nil, productID: "coins", state: .deferred))
            try await device.approve()
            let transaction = try #require(try await device.simulated.unfinished().first)
            return [first.code, try await device.engine().handle(transaction).code]
        },
        KitCase("An interrupted purchase is granted when it arrives", codes: ["pending", "granted"]) { device in
            try await device.mode("interrupted")
            let engine = try await device.engine()
            let first = await engine.buy("coins")
            try await device.approve()
            let transaction = try #require(try await device.simulated.unfinished().first)
            return [first.code, await engine.handle(transaction).code]
        },
        KitCase("A declined purchase never arrives", coins: 0, codes: ["pending"]) { device in
            try await device.mode("ask-to-buy")
            let outcome = try await device.engine().buy("coins")
            try await device.simulated.control("payments/payment-1/decline")
            try await device.engine().start()
            return [outcome.code]
        },
        KitCase("A purchase made on another device is sent as a restore", coins: nil, codes: ["granted"]) {
            device in
            let transaction = try await device.sell("pro")
            let outcome = try await device.engine().handle(transaction)
            #expect(device.link.paths == ["/v1/restores"])
            return [outcome.code]
        },
        KitCase("A purchase's result and its update are one grant", codes: ["granted", "granted"]) { device in
            let engine = try await device.engine()
            let first = await engine.buy("coins")
            let transaction = try await device.simulated.stored(try #require(try await device.lastTransaction()))
            return [first.code, await engine.handle(transaction).code]
        },
        KitCase("Two updates of a purchase at once are one request", codes: ["granted", "granted"]) { device in
            let engine = try await device.engine()
            let transaction = try await device.sell("coins")
            async let first = engine.handle(transaction)
            async let second = engine.handle(transaction)
            let outcomes = await [first.code, second.code]
            #expect(device.link.paths.count == 1)
            return outcomes
        },
        KitCase("Unfinished transactions are handled at the next start", codes: []) { device in
            _ = try await device.sell("coins")
            try await device.engine().start()
            return []
        },
        KitCase("A run takes over each transaction that arrives", codes: ["granted"]) { device in
            let engine = try await device.engine()
            let events = await engine.events()
            let run = Task { await engine.run() }
            defer { run.cancel() }
            try await device.settle()
            _ = try await device.sell("coins")
            for await event in events where event.name == "granted" { break }
            while try await device.unfinished() > 0 { try await device.settle() }
            return ["granted"]
        },
        KitCase(
            "A refund ends the purchase, and is reported to the server", coins: nil,
            codes: ["granted", "purchase_revoked"]
        ) {
            device in
            let engine = try await device.engine()
            let first = await engine.buy("pro")
            let id = try #require(try await device.lastTransaction())
            try await device.simulated.control("transactions/\(id)/refund")
            let second = await engine.handle(try await device.simulated.stored(id))
            #expect(try await engine.purchases().first?.endedAt != nil)
            #expect(try await engine.entitlements().filter { $0.productID == "pro" && $0.isActive }.isEmpty)
            #expect(try await device.world.entitlements(of: device.customer).first?.state == .withdrawn)
            return [first.code, second.code]
        },
        KitCase("A refund before the delivery grants nothing", coins: 0, codes: ["purchase_revoked"]) { device in
            let id = try #require(try await device.sell("coins").transactionID)
            try await device.simulated.control("transactions/\(id)/refund")
            return [try await device.engine().handle(try await device.simulated.stored(id)).code]
        },
        KitCase(
            "A renewal arrives without a call, and is sent as a restore", coins: nil, codes: ["granted", "granted"]
        ) {
            device in
            let engine = try await device.engine()
            let first = await engine.buy("monthly")
            let id = try #require(try await device.lastTransaction())
            try await device.simulated.control("subscriptions/\(id)/renew")
            let renewal = try #require(try await device.simulated.unfinished().last)
            #expect(renewal.transactionID != id)
            return [first.code, await engine.handle(renewal).code]
        },
        KitCase("A shared purchase is sent as a restore", coins: nil, codes: ["granted"]) { device in
            let owner = try await device.world.device()
            let id = try #require(try await owner.sell("pro").transactionID)
            try await device.simulated.control("transactions/\(id)/share", ["customer_id": device.customer])
            let shared = try #require(try await device.simulated.unfinished().first)
            return [try await device.engine().handle(shared).code]
        },
        KitCase("A restore waits for all, asks once and gives one summary", coins: nil, codes: ["2", "0", "0"]) {
            device in
            _ = try await device.sell("pro")
            _ = try await device.sell("monthly")
            let engine = try await device.engine()
            let summary = await engine.restore()
            #expect(device.link.paths == ["/v1/restores"] && summary.error == nil)
            await engine.start()
            return [summary.granted.count, summary.refused.count, summary.undetermined.count].map { "\($0)" }
        },
        KitCase(
            "A restore with the receipt of the original API does the same", coins: nil, codes: ["2", "0", "0"],
            isSigned: false
        ) {
            device in
            _ = try await device.sell("pro")
            _ = try await device.sell("monthly")
            let engine = try await device.engine()
            let summary = await engine.restore()
            #expect(device.link.paths == ["/v1/restores"] && summary.error == nil)
            await engine.start()
            return [summary.granted.count, summary.refused.count, summary.undetermined.count].map { "\($0)" }
        },
        KitCase("Without a customer it waits, and is granted after the login", codes: ["customer_unknown"]) { device in
            let transaction = try await device.sell("coins")
            let engine = try await device.engine(isSignedIn: false)
            let outcome = await engine.handle(transaction)
            #expect(device.link.paths.isEmpty)
            await engine.signIn(PurchaseCustomer(id: device.customer))
            return [outcome.code]
        },
        KitCase(
            "A purchase of another customer's token waits for them", coins: 0, unfinished: 1,
            codes: ["customer_unknown"]
        ) {
            device in
            let transaction = try await device.sell("coins", token: UUID())
            let engine = try await device.engine(isSignedIn: false)
            await engine.signIn(PurchaseCustomer(id: device.customer, appAccountToken: UUID()))
            return [await engine.handle(transaction).code]
        },
        KitCase(
            "What StoreKit does not vouch for is sent, and never granted on the device",
            codes: ["unverified_by_store_kit", "granted"]
        ) {
            device in
            var transaction = try await device.sell("coins")
            transaction.isVerifiedByStoreKit = false
            let alone = try await device.engine(hasServer: false, store: device.otherStore).handle(transaction)
            return [alone.code, try await device.engine().handle(transaction).code]
        },
        KitCase("A forged proof is refused by the server", coins: 0, codes: ["signature_invalid"]) { device in
            var transaction = try await device.sell("coins")
            transaction.signedTransaction = transaction.signedTransaction.map { String($0.dropLast(8)) + "AAAAAAAA" }
            let outcome = try await device.engine().handle(transaction)
            guard case .refused = outcome else { return [outcome.code, "not refused"] }
            return [outcome.code]
        },
        KitCase(
            "A proof for another app is not finished here, and the server decides",
            codes: ["bundle_id_mismatch", "granted"]
        ) { device in
            let transaction = try await device.sell("coins")
            let alone = try await device.engine(
                hasServer: false, bundleID: "com.example.other", store: device.otherStore
            ).handle(transaction)
            return [alone.code, try await device.engine(bundleID: "com.example.other").handle(transaction).code]
        },
        KitCase(
            "A proof for another device grants nothing here, and the server decides",
            codes: ["device_hash_mismatch", "granted"]
        ) { device in
            let transaction = try await device.sell("coins")
            let other = try await device.world.device()
            let alone = try await device.engine(hasServer: false, device: other.simulated, store: device.otherStore)
                .handle(transaction)
            return [alone.code, try await device.engine(device: other.simulated).handle(transaction).code]
        },
        KitCase("The receipt of the original API is enough", codes: ["granted"], isSigned: false) { device in
            [try await device.engine().buy("coins").code]
        },
        KitCase(
            "A receipt that lags behind is refreshed once for a purchase of this run", codes: ["granted", "1"],
            isSigned: false
        ) {
            device in
            try await device.mode("normal", receiptLags: true)
            let outcome = try await device.engine().buy("coins")
            return [outcome.code, "\(device.receipts.refreshes)"]
        },
        KitCase(
            "At the start it is not: the app is told", coins: 0, unfinished: 1,
            codes: ["evidence_missing", "refresh_needed", "0"], isSigned: false
        ) {
            device in
            try await device.mode("normal", receiptLags: true)
            let transaction = try await device.sell("coins")
            let engine = try await device.engine()
            var events = await engine.events().makeAsyncIterator()
            let outcome = await engine.handle(transaction)
            return [outcome.code, await events.next()?.name ?? "", "\(device.receipts.refreshes)"]
        },
        KitCase("The customer may let it be refreshed", codes: ["evidence_missing"], isSigned: false) { device in
            try await device.mode("normal", receiptLags: true)
            let transaction = try await device.sell("coins")
            let engine = try await device.engine()
            let outcome = await engine.handle(transaction)
            await engine.refreshAndRetry()
            return [outcome.code]
        },
        KitCase(
            "A cancelled refresh finishes nothing", coins: 0, unfinished: 1, codes: ["refresh_failed"], isSigned: false
        ) { device in
            try await device.mode("normal", receiptLags: true)
            device.receipts.cancelRefreshes()
            return [try await device.engine().buy("coins").code]
        },
        KitCase(
            "A receipt of another version is refreshed, and its second failure reported", coins: 0, unfinished: 1,
            codes: ["application_version_mismatch", "1"], isSigned: false
        ) {
            device in
            let outcome = try await device.engine(hasServer: false, version: "2.0", store: device.otherStore)
                .buy("coins")
            return [outcome.code, "\(device.receipts.refreshes)"]
        },
        KitCase("A missing receipt before the first sandbox purchase is no error", coins: 0, codes: ["none"]) {
            device in
            let receipt = try await device.engine().verifiedReceipt()
            #expect(device.receipts.refreshes == 0)
            return [receipt == nil ? "none" : "one"]
        },
        KitCase(
            "The device alone grants what Apple signed", coins: 0, codes: ["granted", "1", "0", "balance_insufficient"]
        ) { device in
            let engine = try await device.engine(hasServer: false, store: device.otherStore)
            let outcome = await engine.buy("coins")
            let before = try await engine.balance(of: "coins")
            try await engine.consume(of: "coins", consumptionID: "one")
            try await engine.consume(of: "coins", consumptionID: "one")
            let after = try await engine.balance(of: "coins")
            var code = ""
            do {
                try await engine.consume(of: "coins", consumptionID: "two")
            } catch let error as PurchaseError {
                code = error.code.rawValue
            }
            return [outcome.code, "\(before)", "\(after)", code]
        },
    ]
}

/// A device without an identifier from the system.
struct LockedDevice: DeviceIdentity {
    func receiptIdentifiers() async -> [DeviceIdentifier] { [] }
    func deviceVerificationID() async -> DeviceIdentifier? { nil }
}
