import AppStoreSimulator
import EvidenceMint
import Foundation
import PurchaseVerification
import ServerTestSupport
import Testing

@Suite("28.4 Subscriptions with seats")
struct SeatTests {
    private static func store(_ invitations: SeatInvitations = .apple) throws -> AppStore {
        var store = try StoreWorld.store()
        let month = try #require(StorePeriod("P1M"))
        for (index, productID) in ["team", "team-basic"].enumerated() {
            try store.addProduct(
                bundleID: StoreWorld.app, productID: productID, kind: .autoRenewable, price: 3000,
                subscription: .init(groupID: "teams", level: index + 1, period: month, invitations: invitations))
        }
        for member in ["mia", "max", "mo"] { try store.addCustomer(member, environment: .production) }
        return store
    }

    private static func buy(_ store: inout AppStore, seats: UInt64) throws -> StoreTransaction {
        try store.buy("team", of: StoreWorld.app, by: "ada", options: .init(quantity: seats))
    }

    @Test("28.4 Seats that are added are a second transaction of the same period, and are renewed with the others")
    func addition() throws {
        var store = try Self.store()
        let first = try Self.buy(&store, seats: 5)
        #expect(first.quantity == 5 && first.seats?.invitations == .apple && first.additionalReason == nil)
        try store.moveClock(to: StoreWorld.start.addingTimeInterval(86_400))
        let added = try store.addSeats(3, to: first.transactionID)
        #expect(added.originalTransactionID == first.transactionID && added.transactionID != first.transactionID)
        #expect(added.expiresDate == first.expiresDate && added.purchaseDate > first.purchaseDate)
        let subscription = try store.subscription(first.transactionID)
        #expect(subscription.transactionID == first.transactionID && store.seats(of: subscription) == 8)
        let period = store.periodTransactions(of: subscription)
        #expect(period.map(\.additionalReason) == ["SEAT_ADDITION", "SEAT_ADDITION"])
        // Nothing says which notification Apple sends, so none is sent unless the caller names its type.
        #expect(store.events.last?.notification == nil)
        try store.addSeats(1, to: first.transactionID, notificationType: "DID_CHANGE_RENEWAL_PREF")
        #expect(store.events.last?.notification?.subtype == "INCREASE_QUANTITY")
        #expect(store.events.last?.summary.contains(" adds 1 seat of ") == true)
        try store.setRenewalSeats(6, of: first.transactionID, notificationType: "DID_CHANGE_RENEWAL_PREF")
        #expect(store.events.last?.notification?.subtype == "DECREASE_QUANTITY")
        try store.letFallDue(first.transactionID)
        let renewed = try store.subscription(first.transactionID)
        #expect(store.seats(of: renewed) == 6 && store.periodTransactions(of: renewed).count == 1)
    }

    @Test("54.3 A purchase of a subscription that one has is for a new total of seats, which must be higher")
    func total() throws {
        var store = try Self.store()
        let first = try Self.buy(&store, seats: 5)
        let added = try Self.buy(&store, seats: 12)
        #expect(added.quantity == 7 && added.originalTransactionID == first.transactionID)
        let subscription = try store.subscription(first.transactionID)
        #expect(store.seats(of: subscription) == 12 && subscription.renewalSeats == 12)
        let period = store.periodTransactions(of: subscription)
        #expect(period.map(\.additionalReason) == ["SEAT_ADDITION", "SEAT_ADDITION"])
        for total in [12, 11] as [UInt64] {
            #expect(throws: StoreError.self) { try Self.buy(&store, seats: total) }
        }
    }

    @Test("28 Seats are not added to a period that is over, in a grace period")
    func additionInGrace() throws {
        var store = try Self.store()
        let first = try Self.buy(&store, seats: 5).transactionID
        try store.setBilling(works: false, for: first)
        try store.letFallDue(first)
        try #require(try store.subscription(first).status != .active)
        #expect(throws: StoreError.self) { try store.addSeats(1, to: first) }
        try store.setBilling(works: true, for: first)
        try store.addSeats(1, to: first)
        #expect(store.seats(of: try store.subscription(first)) == 6)
    }

    @Test("28.4 Refunded seats leave the subscription until every transaction of the period is revoked")
    func refund() throws {
        var store = try Self.store()
        let first = try Self.buy(&store, seats: 5).transactionID
        let added = try store.addSeats(3, to: first).transactionID
        let partly = try store.refundSeats(2, of: first)
        #expect(partly.revocation == nil)
        #expect(store.events.last?.notification?.subtype == "SEATS")
        #expect(store.seats(of: try store.subscription(first)) == 6)
        let whole = try store.refund(added)
        #expect(whole.revocation != nil)
        #expect(try store.subscription(first).status == .active)
        #expect(store.seats(of: try store.subscription(first)) == 3)
        #expect(throws: StoreError.self) { try store.refundSeats(4, of: first) }
        let last = try store.refundSeats(3, of: first)
        #expect(last.revocation != nil)
        #expect(try store.subscription(first).status == .revoked)
        try store.reverseRefund(of: added)
        #expect(try store.subscription(first).status == .active)
        #expect(store.seats(of: try store.subscription(first)) == 3)
        try store.reverseRefund(of: first)
        #expect(store.seats(of: try store.subscription(first)) == 8)
    }

    @Test("28.4 A member has transactions of their own, for as long as the purchaser's period")
    func members() throws {
        var store = try Self.store()
        let first = try Self.buy(&store, seats: 2).transactionID
        let mia = try store.assignSeat(of: first, to: "mia")
        #expect(mia.ownership == .assigned && mia.originalTransactionID == mia.transactionID && mia.price == 0)
        #expect(throws: StoreError.self) { try store.assignSeat(of: first, to: "mia") }
        try store.assignSeat(of: first, to: "max")
        #expect(throws: StoreError.self) { try store.assignSeat(of: first, to: "mo") }
        try store.letFallDue(first)
        let renewed = try store.subscription(mia.transactionID)
        #expect(renewed.status == .active && renewed.transactionID != mia.transactionID)
        #expect(try store.transaction(renewed.transactionID).ownership == .assigned)
        try store.revokeSharing(of: renewed.transactionID)
        #expect(try store.subscription(mia.transactionID).status == .revoked)
        try store.assignSeat(of: first, to: "mo")
        let present = try store.subscription(first).transactionID
        try store.refund(present)
        #expect(store.subscriptions.filter { $0.sharedFrom == first }.allSatisfy { $0.status == .revoked })
        var byDeveloper = try Self.store(.developer)
        let other = try Self.buy(&byDeveloper, seats: 2).transactionID
        #expect(throws: StoreError.self) { try byDeveloper.assignSeat(of: other, to: "mia") }
    }

    @Test("28.4 Signed data states the seats, their reason, their refunds and those of the next period")
    func signedData() throws {
        var store = try Self.store(.developer)
        let verifier = try DeliveryWorld.verifier()
        let evidence = StoreEvidence(authority: try StoreWorld.authority())
        let first = try Self.buy(&store, seats: 5).transactionID
        try store.addSeats(3, to: first)
        try store.refundSeats(2, of: first)
        let signed = try evidence.signedTransaction(first, in: store)
        guard case .signedTransaction(let transaction) = try verifier.verify(Array(signed.utf8), policies: []) else {
            Issue.record("no transaction")
            return
        }
        #expect(transaction.quantity == 5 && transaction.price == 3000)
        #expect(transaction.additionalTransactionReason?.rawValue == "SEAT_ADDITION")
        #expect(transaction.multiSeatInfo?.invitationManagement == .developer)
        #expect(transaction.multiSeatInfo?.revokedSeatQuantity == 2)
        #expect(transaction.multiSeatInfo?.priceTiers.first?.quantity == 5)
        #expect(transaction.revocationDate == nil)
        let renewal = try evidence.signedRenewalInfo(of: first, in: store)
        guard case .signedRenewalInfo(let info) = try verifier.verify(Array(renewal.utf8), policies: []) else {
            Issue.record("no renewal info")
            return
        }
        #expect(info.renewalQuantity == 8 && info.multiSeatInfo?.renewalPriceTiers.first?.price == 3000)
    }

    @Test("28.4 Seats are not restored as copies, an extension moves all of their transactions, an upgrade ends all")
    func otherActs() throws {
        var store = try Self.store()
        let first = try store.buy("team-basic", of: StoreWorld.app, by: "ada", options: .init(quantity: 2))
            .transactionID
        let added = try store.addSeats(2, to: first).transactionID
        let restored = try store.restore(StoreWorld.app, for: "ada")
        #expect(restored.isEmpty)
        try store.extendRenewal(of: first, days: 7)
        #expect(try store.transaction(added).expiresDate == store.transaction(first).expiresDate)
        let upgraded = try store.changeProduct(of: first, to: "team")
        #expect(upgraded.quantity == 4)
        #expect(try store.transaction(added).isUpgraded && store.transaction(first).isUpgraded)
    }

    @Test("28.4 The control API buys, adds, refunds and assigns seats")
    func routes() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            let created = try await client.post(
                "/control/products",
                [
                    "bundle_id": StoreWorld.app, "product_id": "team", "kind": "auto-renewable",
                    "subscription": ["group_id": "teams", "period": "P1M", "invitations": "APPLE"],
                ])
            #expect(created.status == 201, "\(created.text)")
            try await client.post("/control/customers", ["customer_id": "mia", "environment": "production"])
            let first = try await client.buy("team", by: "ada", ["quantity": 5]).text("transaction", "transaction_id")
            let path = "/control/subscriptions/\(first)"
            let added = try await client.post("\(path)/add-seats", ["seats": 3])
            #expect(added.status == 201, "\(added.text)")
            #expect(try added.text("transaction", "seats_added_to") == first)
            let second = try added.text("transaction", "transaction_id")
            let refunded = try await client.post("/control/transactions/\(second)/refund-seats", ["seats": 1])
            #expect(refunded.status == 200, "\(refunded.text)")
            let member = try await client.post("\(path)/assign-seat", ["customer_id": "mia"])
            #expect(try member.text("transaction", "ownership") == "ASSIGNED")
            let next = try await client.post("\(path)/set-seats", ["seats": 4])
            let subscription = try next.object["subscription"] as? [String: Any]
            #expect(subscription?["renewal_seats"] as? Int == 4)
            #expect(try await client.post("\(path)/add-seats").text("code") == "invalid_value")
        }
    }
}
