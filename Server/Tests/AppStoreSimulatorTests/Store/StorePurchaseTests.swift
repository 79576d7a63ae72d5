import AppStoreSimulator
import Foundation
import Testing

@Suite("A purchase in the store")
struct StorePurchaseTests {
    private let app = StoreWorld.app

    @Test("gets an identifier that no other has, longer in the sandbox")
    func identifiers() throws {
        var store = try StoreWorld.store()
        try store.addCustomer("tester", environment: .sandbox)
        let first = try store.buy("coins", of: app, by: "ada")
        let second = try store.buy("coins", of: app, by: "tester")
        #expect(first.transactionID == "500000000000001")
        #expect(second.transactionID == "2000000000000002")
        #expect(first.originalTransactionID == first.transactionID)
    }

    @Test("of a consumable leaves the receipt at the next refresh after it was finished, and no other kind does")
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

    @Test("is restored under a new identifier and its old original one, which takes its place in the receipt")
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

    @Test("is refused where somebody or something is unknown, not for sale or impossible")
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

    @Test("that is refunded keeps its place with a cancellation, until the refund is reversed; its copies follow")
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

    @Test("is shared with a family member under an identifier of his own, and ends for him when it is refunded")
    func familySharing() throws {
        var store = try StoreWorld.store()
        let bought = try store.buy("full", of: app, by: "ada")
        let shared = try store.share(bought.transactionID, with: "grace")
        #expect(shared.ownership == .familyShared)
        #expect(shared.originalTransactionID == shared.transactionID)
        #expect(try store.receipt(of: app, for: "grace").transactions.map(\.transactionID) == [shared.transactionID])
        try store.refund(bought.transactionID)
        #expect(try store.transaction(shared.transactionID).revocation?.kind == .familySharing)
        #expect(store.events.last?.notification?.type == "REVOKE")
        let coins = try store.buy("coins", of: app, by: "ada")
        #expect(throws: StoreError.self) { try store.share(coins.transactionID, with: "grace") }
    }
}
