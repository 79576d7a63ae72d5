import AppStoreSimulator
import Foundation
import Testing

@Suite("A purchase in the store")
struct StorePurchaseTests {
    private let app = StoreWorld.app

    @Test("gets a unique transaction id, with more digits in the sandbox")
    func identifiers() throws {
        var store = try StoreWorld.store()
        try store.addCustomer("tester", environment: .sandbox)
        let first = try store.buy("coins", of: app, by: "ada")
        let second = try store.buy("coins", of: app, by: "tester")
        #expect(first.transactionID == "500000000000001")
        #expect(second.transactionID == "2000000000000002")
        #expect(first.originalTransactionID == first.transactionID)
    }

    @Test("of a consumable leaves the receipt at the first refresh after it was finished; other kinds stay")
    func finishing() throws {
        var store = try StoreWorld.store()
        for productID in ["coins", "full", "season", "gold"] {
            let transaction = try store.buy(productID, of: app, by: "ada")
            try store.finish(transaction.transactionID)
        }
        let coins = try store.buy("coins", of: app, by: "ada")
        #expect(
            try store.receipt(of: app, for: "ada").transactions.map(\.productID) == ["full", "season", "gold", "coins"])
        try store.finish(coins.transactionID)
        #expect(try store.receipt(of: app, for: "ada").transactions.count == 4, "nothing leaves before a refresh")
        try store.refreshReceipt(of: app, for: "ada")
        #expect(try store.receipt(of: app, for: "ada").transactions.map(\.productID) == ["full", "season", "gold"])
    }

    @Test("is restored under a new transaction id and its original one, and is replaced in the receipt")
    func restoring() throws {
        var store = try StoreWorld.store()
        let bought = try store.buy("full", of: app, by: "ada")
        try store.buy("coins", of: app, by: "ada")
        let restored = try store.restore(app, for: "ada")
        #expect(restored.map(\.originalTransactionID) == [bought.transactionID])
        #expect(restored.first?.transactionID != bought.transactionID)
        let again = try store.buy("full", of: app, by: "ada")
        #expect(again.originalTransactionID == bought.transactionID)
        let receipt = try store.receipt(of: app, for: "ada").transactions
        #expect(receipt.filter { $0.productID == "full" }.map(\.transactionID) == [again.transactionID])
    }

    @Test("is refused if the customer or product is unknown, not for sale or not allowed")
    func refusals() throws {
        var store = try StoreWorld.store()
        func code(_ body: (inout AppStore) throws -> Void) -> StoreError.Code? {
            var copy = store
            do {
                try body(&copy)
                return nil
            } catch {
                return (error as? StoreError)?.code
            }
        }
        #expect(code { try $0.buy("pearls", of: app, by: "ada") } == .unknownProduct)
        #expect(code { try $0.buy("coins", of: "com.example", by: "ada") } == .unknownProduct)
        #expect(code { try $0.buy("coins", of: app, by: "eve") } == .unknownCustomer)
        let many = AppStore.PurchaseOptions(quantity: 11)
        #expect(code { try $0.buy("coins", of: app, by: "ada", options: many) } == .invalidValue)
        let token = AppStore.PurchaseOptions(appAccountToken: "me")
        #expect(code { try $0.buy("coins", of: app, by: "ada", options: token) } == .invalidValue)
        #expect(code { try $0.addApp(bundleID: app) } == .alreadyExists)
        #expect(code { try $0.refund("1") } == .unknownTransaction)
        try store.setForSale(false, "coins", of: app)
        #expect(code { try $0.buy("coins", of: app, by: "ada") } == .notForSale)
        try store.buy("gold", of: app, by: "ada")
        #expect(code { try $0.buy("gold", of: app, by: "ada") } == .alreadySubscribed)
        #expect(code { try $0.moveClock(to: .distantPast) } == .invalidValue)
        #expect(
            code { try $0.moveClock(to: StoreWorld.start.addingTimeInterval(-1)) }
                == .clockBackwards)
    }

    @Test("that is refunded stays with a cancellation date until the refund is reversed; its copies follow")
    func refunds() throws {
        var store = try StoreWorld.store()
        let bought = try store.buy("full", of: app, by: "ada")
        let copy = try #require(try store.restore(app, for: "ada").first)
        try store.refund(bought.transactionID, reason: 1)
        #expect(try store.transaction(copy.transactionID).revocation?.reason == 1)
        #expect(throws: StoreError.self) { try store.refund(bought.transactionID) }
        #expect(try store.restore(app, for: "ada").isEmpty)
        try store.reverseRefund(of: bought.transactionID)
        #expect(try store.transaction(copy.transactionID).revocation == nil)
        #expect(store.events.compactMap { $0.notification?.type } == ["ONE_TIME_CHARGE", "REFUND", "REFUND_REVERSED"])
    }

    @Test(
        "is refunded in parts, each with the total percentage; receipts do not show a partly refunded consumable"
    )
    func partialRefunds() throws {
        var store = try StoreWorld.store()
        let coins = try store.buy(
            "coins", of: app, by: "ada", options: AppStore.PurchaseOptions(quantity: 3)
        ).transactionID
        try store.refund(coins, percentage: 33_333)
        #expect(throws: StoreError.self) { try store.refund(coins, percentage: 33_333) }
        try store.moveClock(to: store.now.addingTimeInterval(3600))
        let second = try store.refund(coins, percentage: 66_667)
        #expect(second.revocation?.percentage == 66_667)
        #expect(second.revocation?.date == store.now)
        let evidence = StoreEvidence(authority: try StoreWorld.authority())
        let signed = try claims(of: evidence.signedTransaction(coins, in: store))
        #expect(signed["revocationPercentage"] as? Int == 66_667)
        #expect(signed["revocationType"] as? String == "REFUND_PRORATED")
        try store.refund(coins)
        let whole = try claims(of: evidence.signedTransaction(coins, in: store))
        #expect(whole["revocationPercentage"] == nil && whole["revocationType"] as? String == "REFUND_FULL")
        #expect(throws: StoreError.self) { try store.refund(coins) }
        try store.reverseRefund(of: coins)
        let clean = try claims(of: evidence.signedTransaction(coins, in: store))
        #expect(clean["revocationDate"] == nil && clean["revocationType"] == nil)
        for percentage: Int64 in [0, 100_001, -1] {
            #expect(throws: StoreError.self) { try store.refund(coins, percentage: percentage) }
        }
    }

    @Test("has one appTransactionId per customer and app in all signed data")
    func appTransaction() throws {
        var store = try StoreWorld.store()
        let evidence = StoreEvidence(authority: try StoreWorld.authority())
        let gold = try store.buy("gold", of: app, by: "ada").transactionID
        let coins = try store.buy("coins", of: app, by: "ada").transactionID
        let shared = try store.share(gold, with: "grace").transactionID
        func name(_ signed: String) throws -> String {
            try #require(try claims(of: signed)["appTransactionId"] as? String)
        }
        let ada = try name(try evidence.signedTransaction(gold, in: store))
        #expect(try name(try evidence.signedTransaction(coins, in: store)) == ada)
        #expect(try name(try evidence.signedRenewalInfo(of: gold, in: store)) == ada)
        let grace = try name(try evidence.signedTransaction(shared, in: store))
        #expect(grace != ada)
        #expect(try name(try evidence.signedRenewalInfo(of: shared, in: store)) == grace)
    }

    /// The claims of a compact JWS.
    private func claims(of jws: String) throws -> [String: Any] {
        var text = String(jws.split(separator: ".")[1]).replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        let data = try #require(Data(base64Encoded: text))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    @Test("is shared with a family member under a new transaction id, and is revoked for them by a refund")
    func familySharing() throws {
        var store = try StoreWorld.store()
        let bought = try store.buy("full", of: app, by: "ada")
        let shared = try store.share(bought.transactionID, with: "grace")
        #expect(shared.ownership == .familyShared)
        #expect(shared.originalTransactionID == shared.transactionID)
        #expect(try store.receipt(of: app, for: "grace").transactions.map(\.transactionID) == [shared.transactionID])
        let copy = try #require(try store.restore(app, for: "ada").first)
        try store.addCustomer("lin", environment: .production)
        let sharedCopy = try store.share(copy.transactionID, with: "lin")
        try store.refund(bought.transactionID)
        #expect(try store.transaction(shared.transactionID).revocation?.kind == .familySharing)
        #expect(try store.transaction(sharedCopy.transactionID).revocation?.kind == .familySharing)
        #expect(store.events.last?.notification?.type == "REVOKE")
        let coins = try store.buy("coins", of: app, by: "ada")
        #expect(throws: StoreError.self) { try store.share(coins.transactionID, with: "grace") }
    }
}
