import Foundation
import KitTestSupport
import PurchaseKit
import Testing

/// Restored transactions of the original API, which have ids of their own that the receipt does not contain.
@Suite("Restored copies")
struct RestoredCopyTests {
    @Test("Each ends with the purchase granted once or not at all, and finished exactly then", arguments: cases)
    func table(_ line: KitCase) async throws { try await line.check() }

    static let cases: [KitCase] = [
        KitCase("A copy is the same purchase", coins: nil, codes: ["granted", "granted", "1"], isSigned: false) {
            device in
            let engine = try await device.engine()
            let first = await engine.buy("pro")
            let copy = await engine.handle(try await device.copy("pro"))
            #expect(device.link.paths == ["/v1/purchases", "/v1/restores"])
            return [first.code, copy.code, "\(try await engine.purchases().count)"]
        },
        KitCase("Without a server, too", coins: nil, codes: ["granted", "granted", "1"], isSigned: false) { device in
            let engine = try await device.engine(hasServer: false)
            let first = await engine.buy("pro")
            let copy = await engine.handle(try await device.copy("pro"))
            return [first.code, copy.code, "\(try await engine.purchases().count)"]
        },
        KitCase(
            "A refund of the original ends its copies", coins: nil, codes: ["granted", "2", "purchase_revoked", "0"],
            isSigned: false
        ) { device in
            let engine = try await device.engine(hasServer: false)
            let first = await engine.buy("pro")
            let id = try #require(try await device.lastTransaction())
            var copy = try #require(try await engine.purchases().first)
            (copy.originalTransactionID, copy.key.transactionID) = (id, "9\(id)")
            try await engine.adopt([copy])
            let active = try await engine.purchases().count { $0.endedAt == nil }
            try await device.simulated.control("transactions/\(id)/refund")
            try await device.receipts.refresh()
            let refunded = await engine.handle(try await device.simulated.stored(id))
            let left = try await engine.purchases().count { $0.endedAt == nil }
            return [first.code, "\(active)", refunded.code, "\(left)"]
        },
        KitCase(
            "A copy of a subscription ends with its period", coins: nil, unfinished: 1,
            codes: ["granted", "true", "false"], isSigned: false
        ) { device in
            _ = try await device.sell("monthly")
            try await device.receipts.refresh()
            let engine = try await device.engine(hasServer: false)
            let copy = await engine.handle(try await device.copy("monthly"))
            let before = try await engine.entitlements().map { "\($0.isActive)" }
            device.time.pass(40 * 86_400)
            return [copy.code] + before + (try await engine.entitlements().map { "\($0.isActive)" })
        },
        KitCase(
            "A copy of several periods is the newest of them", coins: nil, unfinished: 2,
            codes: ["granted", "granted", "2"],
            isSigned: false
        ) { device in
            let id = try #require(try await device.sell("monthly").transactionID)
            try await device.simulated.control("subscriptions/\(id)/renew")
            try await device.receipts.refresh()
            let newest = try #require(try await device.lastTransaction())
            #expect(newest != id)
            var copy = PaymentTransaction(
                transactionID: "9\(id)", originalTransactionID: id, productID: "monthly", state: .restored)
            let engine = try await device.engine(hasServer: false)
            let alone = await engine.handle(copy)
            #expect(try await engine.purchases().map(\.key.transactionID) == [newest])
            copy.transactionID = "8\(id)"
            let served = try await device.engine(store: device.otherStore)
            let outcome = await served.handle(copy)
            #expect(try await served.purchases().map(\.key.transactionID) == [newest])
            return [alone.code, outcome.code, "\(try await device.simulated.history().count)"]
        },
        KitCase(
            "A copy of a refunded purchase grants nothing", coins: nil, unfinished: 1,
            codes: ["purchase_revoked", "purchase_cancelled"], isSigned: false
        ) { device in
            let id = try #require(try await device.sell("pro").transactionID)
            try await device.simulated.control("transactions/\(id)/refund")
            try await device.receipts.refresh()
            let copy = try await device.copy("pro")
            let alone = try await device.engine(hasServer: false, store: device.otherStore).handle(copy)
            return [alone.code, try await device.engine().handle(copy).code]
        },
    ]
}

extension KitDevice {
    /// The newest purchase as the original API restores it.
    fileprivate func copy(_ product: String) async throws -> PaymentTransaction {
        let id = try #require(try await lastTransaction())
        return PaymentTransaction(
            transactionID: "9\(id)", originalTransactionID: id, productID: product, state: .restored)
    }
}
