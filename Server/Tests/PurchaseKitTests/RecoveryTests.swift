import Crypto
import Foundation
import KitTestSupport
import PurchaseAPI
import PurchaseKit
import PurchaseServer
import PurchaseVerification
import Synchronization
import Testing

/// Transactions that must not be finished, must not be requested, or must be recovered: the cases in which money would
/// be lost or given away.
@Suite("Recovery")
struct RecoveryTests {
    @Test("Each ends with the purchase granted once or not at all, and finished exactly then", arguments: cases)
    func table(_ line: KitCase) async throws { try await line.check() }

    static let cases: [KitCase] = [
        KitCase("An order without an id is refused before the payment", coins: 0, codes: ["field_missing"]) { device in
            [try await device.engine().buy("coins", order: PurchaseOrder(orderID: "")).code]
        },
        KitCase("A customer without an id is nobody, so a guest buys", coins: 0, codes: ["granted"]) { device in
            let engine = try await device.engine()
            await engine.signIn(PurchaseCustomer(id: ""))
            return [await engine.buy("coins").code]
        },
        KitCase(
            "What the server cannot decide now waits as long as it says, at most an hour", coins: 1,
            codes: ["app_store_unreachable", "600", "app_store_unreachable", "3600", "granted"]
        ) { device in
            let key = Curve25519.Signing.PrivateKey()
            let keys = try AnswerKeys(
                current: key.publicKey.rawRepresentation.base64EncodedString(), next: device.world.signer.publicKey)
            let engine = try await device.engine(keys: keys)
            let pauses = Mutex<[Int]>([])
            device.link.intercept { request, forward in
                // The signature of the genuine answer covers the nonce; none of that answer reaches the device.
                var answer = try await forward(request)
                answer.status = 503
                answer.headers["content-type"] = ProblemDocument.contentType
                answer.headers["retry-after"] = pauses.withLock { $0.isEmpty ? "600" : "999999999" }
                answer.body = ProblemDocument(
                    title: "Service Unavailable", status: 503, code: "app_store_unreachable", disposition: .retry,
                    verdict: SubmissionVerdict(rawValue: "undetermined"), replayed: false, submissionID: "s"
                ).json()
                return try NetworkTests.resigned(answer, request, by: key, keyID: NetworkTests.id(of: key))
            }
            let first = await engine.buy("coins")
            let firstPause = try await engine.pause(device)
            pauses.withLock { $0.append(firstPause) }
            let second = await engine.handle(try #require(try await device.simulated.unfinished().first))
            let secondPause = try await engine.pause(device)
            pauses.withLock { $0.append(secondPause) }
            #expect(try await device.unfinished() == 1)
            device.link.intercept(nil)
            let found = pauses.withLock { $0.map { "\($0)" } }
            return [first.code, found[0], second.code, found[1], try await device.retry(engine)]
        },
        KitCase("A wrong API key is the operator's matter", coins: 0, unfinished: 1, codes: ["key_unknown"]) { device in
            [try await device.engine(apiKey: "assay_wrong").buy("coins").code]
        },
        KitCase(
            "A proof by an authority that this version does not know is not finished, and the server may know it",
            codes: ["issuer_unknown", "granted"]
        ) { device in
            let alone = try await device.engine(
                hasServer: false, store: device.otherStore, anchors: TrustAnchor.apple
            ).handle(try await device.sell("coins"))
            let transaction = try #require(try await device.simulated.unfinished().first)
            return [alone.code, try await device.engine(anchors: TrustAnchor.apple).handle(transaction).code]
        },
        KitCase(
            "A receipt by an unknown authority is refreshed once, and not finished", coins: 0, unfinished: 1,
            codes: ["issuer_unknown", "1"], isSigned: false
        ) { device in
            let engine = try await device.engine(
                hasServer: false, store: device.otherStore, anchors: TrustAnchor.apple)
            let outcome = await engine.buy("coins")
            return [outcome.code, "\(device.receipts.refreshes)"]
        },
        KitCase(
            "Before the first unlock no receipt would help, so none is asked for", coins: 0, unfinished: 1,
            codes: ["device_unknown", "0"], isSigned: false
        ) { device in
            let engine = try await device.engine(
                hasServer: false, device: LockedDevice(), store: device.otherStore)
            let outcome = await engine.buy("coins")
            return [outcome.code, "\(device.receipts.refreshes)"]
        },
        KitCase(
            "A repetition never refreshes the receipt by itself", unfinished: 0,
            codes: ["connection_failed", "receipt_missing", "refresh_needed", "0", "granted"], isSigned: false
        ) { device in
            let engine = try await device.engine()
            device.link.intercept { _, _ in throw LineCut() }
            let first = await engine.buy("coins")
            device.link.intercept(nil)
            device.receipts.replace(by: [])
            var events = await engine.events().makeAsyncIterator()
            let second = try await device.retry(engine)
            let event = await events.next()?.name ?? ""
            let refreshes = device.receipts.refreshes
            await engine.refreshAndRetry()
            let last = try await engine.purchases().isEmpty ? "waiting" : "granted"
            return [first.code, second, event, "\(refreshes)", last]
        },
        KitCase("A store that cannot be read at the launch is read later in the same run", codes: []) { device in
            _ = try await device.sell("coins")
            let engine = try await device.engine(store: LockedStore(store: device.store, reads: 3))
            await engine.start()
            #expect(try await device.unfinished() == 1)
            for _ in 0..<3 {
                device.time.pass(60)
                await engine.retryDue()
            }
            return []
        },
        KitCase("A queue that does not answer at the launch is asked later in the same run", codes: []) { device in
            _ = try await device.sell("coins")
            device.queue.failToList(2)
            let engine = try await device.engine()
            await engine.start()
            await engine.retryDue()
            #expect(try await device.unfinished() == 1)
            for _ in 0..<2 {
                device.time.pass(60)
                await engine.retryDue()
            }
            return []
        },
        KitCase("A restore is cut, and its purchases are granted later", coins: nil, codes: ["1", "granted"]) {
            device in
            _ = try await device.sell("pro")
            let engine = try await device.engine()
            device.link.intercept { _, _ in throw LineCut() }
            let summary = await engine.restore()
            device.link.intercept(nil)
            return ["\(summary.undetermined.count)", try await device.retry(engine)]
        },
        KitCase(
            "The answer to a restore is lost after the commit, and its repetition grants nothing twice", coins: nil,
            codes: ["2 undetermined", "2 granted", "2 grants at the server"]
        ) { device in
            for product in ["pro", "monthly"] { try await device.simulated.finish(try await device.sell(product)) }
            let engine = try await device.engine()
            device.link.intercept { request, forward in
                _ = try await forward(request)
                throw LineCut()
            }
            let lost = await engine.restore()
            #expect(lost.granted.isEmpty && device.queue.finished.withLock { $0.isEmpty })
            #expect(try await device.world.grants(to: device.customer) == 2)
            device.link.intercept(nil)
            let summary = await engine.restore()
            #expect(summary.undetermined.isEmpty && summary.refused.isEmpty, "\(summary)")
            return [
                "\(lost.undetermined.count) undetermined", "\(summary.granted.count) granted",
                "\(try await device.world.grants(to: device.customer)) grants at the server",
            ]
        },
        KitCase("A restore pays the order of a purchase that waits", coins: nil, codes: ["connection_failed", "paid"]) {
            device in
            let order = try await device.world.order("pro", for: device.customer)
            let engine = try await device.engine()
            device.link.intercept { _, _ in throw LineCut() }
            let first = await engine.buy(
                "pro",
                order: PurchaseOrder(
                    orderID: order.orderID, appAccountToken: UUID(uuidString: order.appAccountToken)))
            device.link.intercept(nil)
            let summary = await engine.restore()
            #expect(summary.granted.count >= 1 && summary.undetermined.isEmpty, "\(summary)")
            return [first.code, try await device.world.order(order.orderID).status.rawValue]
        },
        KitCase(
            "A restore takes nothing that waits for another customer", coins: nil,
            codes: ["connection_failed", "customer_unknown", "granted"]
        ) { device in
            let engine = try await device.engine()
            device.link.intercept { _, _ in throw LineCut() }
            let first = await engine.buy("pro")
            device.link.intercept(nil)
            await engine.signIn(PurchaseCustomer(id: "bob"))
            let summary = await engine.restore()
            #expect(device.link.paths.count == 1)
            let code = summary.undetermined.values.first?.code.rawValue ?? ""
            #expect(try await device.retry(engine) == "customer_unknown")
            await engine.signIn(PurchaseCustomer(id: device.customer))
            let last = try await device.retry(engine)
            // The copies that the restore left in the queue are not finished either.
            await engine.start()
            #expect(try await device.world.entitlements(of: "bob").isEmpty)
            #expect(try await device.world.entitlements(of: device.customer).count == 1)
            return [first.code, code, last]
        },
        KitCase(
            "A renewal does not pay an order whose payment was cancelled", coins: nil,
            codes: ["granted", "cancelled", "granted", "created"]
        ) { device in
            let engine = try await device.engine()
            let first = await engine.buy("monthly")
            let id = try #require(try await device.lastTransaction())
            let order = try await device.world.order("monthly", for: device.customer)
            try await device.mode("cancelled")
            let cancelled = await engine.buy("monthly", order: PurchaseOrder(orderID: order.orderID))
            try await device.simulated.control("subscriptions/\(id)/renew")
            let renewal = await engine.handle(try #require(try await device.simulated.unfinished().last))
            #expect(device.link.paths.last == "/v1/restores")
            #expect(try await engine.diagnostics().startedPurchases == 1)
            return [
                first.code, cancelled.code, renewal.code, try await device.world.order(order.orderID).status.rawValue,
            ]
        },
        KitCase(
            "A refund that is reversed counts again", coins: nil,
            codes: ["granted", "purchase_revoked", "granted", "true"]
        ) { device in
            let engine = try await device.engine()
            let first = await engine.buy("pro")
            let id = try #require(try await device.lastTransaction())
            try await device.simulated.control("transactions/\(id)/refund")
            let second = await engine.handle(try await device.simulated.stored(id))
            #expect(try await engine.entitlements().map(\.isActive) == [false])
            // Of two statements with the same time, the refund counts.
            try await Task.sleep(for: .milliseconds(1100))
            try await device.simulated.control("transactions/\(id)/reverse-refund")
            let third = try await device.engine().handle(try await device.simulated.stored(id))
            let active = try await device.engine().entitlements().map { "\($0.isActive)" }
            return [first.code, second.code, third.code] + active
        },
        KitCase(
            "An upgrade ends the subscription that it replaces", coins: nil,
            codes: ["granted", "granted", "purchase_upgraded", "yearly"]
        ) { device in
            let engine = try await device.engine()
            let first = await engine.buy("monthly")
            let id = try #require(try await device.lastTransaction())
            try await device.simulated.control("subscriptions/\(id)/change-product", ["product_id": "yearly"])
            let upgrade = await engine.handle(try #require(try await device.simulated.unfinished().last))
            let old = await engine.handle(try await device.simulated.stored(id))
            let active = try await engine.entitlements().filter(\.isActive).map(\.productID)
            return [first.code, upgrade.code, old.code] + active
        },
        KitCase(
            "An entitlement that the App Store withdraws without a transaction ends", coins: nil,
            codes: ["granted", "false"]
        ) { device in
            let engine = try await device.engine()
            let first = await engine.buy("pro")
            await engine.withdraw(["pro", "nothing"])
            return [first.code] + (try await engine.entitlements().map { "\($0.isActive)" })
        },
        KitCase("A delegate that the process did not reach is called by the next run", codes: ["granted", "true"]) {
            device in
            device.queue.failToFinish(1)
            let first = try await device.engine().buy("coins")
            let engine = try await device.engine()
            let delegate = Witness()
            await engine.setDelegate(delegate)
            await engine.start()
            return [first.code] + delegate.seen.withLock { $0 }
        },
    ]
}

/// A store that cannot be read at first, as before the first unlock.
final class LockedStore: PurchaseStore, Sendable {
    private let store: FilePurchaseStore
    private let reads: Mutex<Int>

    init(store: FilePurchaseStore, reads: Int) {
        self.store = store
        self.reads = Mutex(reads)
    }

    func unlock() { reads.withLock { $0 = 0 } }

    func read() throws -> [UInt8]? {
        let isLocked = reads.withLock { left in
            defer { left = max(0, left - 1) }
            return left > 0
        }
        if isLocked { throw PurchaseError(.storeFailed, found: "the device is locked") }
        return try store.read()
    }

    func write(_ document: [UInt8]) throws { try store.write(document) }
    func evidence(_ name: String) throws -> [UInt8]? { try store.evidence(name) }
    func keepEvidence(_ evidence: [UInt8], _ name: String) throws { try store.keepEvidence(evidence, name) }
    func removeEvidence(_ name: String) throws { try store.removeEvidence(name) }
}

/// Records what it is told.
final class Witness: PurchaseDelegate {
    let seen = Mutex<[String]>([])

    func didVerify(_: PaymentTransaction, isValid: Bool) async { seen.withLock { $0.append("\(isValid)") } }
    func didFailToVerify(_: PaymentTransaction, error: PurchaseError) async {
        seen.withLock { $0.append(error.code.rawValue) }
    }
}
