import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Orders that are delivered in parts, and orders that end", .ledger)
struct OrderUnitsTests {
    let world: LedgerWorld = CurrentWorld.opened()

    private func coins(
        _ id: String, _ quantity: Int64 = 3, _ change: @escaping (inout SignedTransactionTemplate) -> Void = { _ in }
    ) throws -> [UInt8] {
        try LedgerWorld.signed(id) {
            $0.quantity = quantity
            change(&$0)
        }
    }

    /// The coins of which Apple refunded a part, in percent.
    private func refunded(_ id: String, _ percentage: Int64) throws -> [UInt8] {
        try coins(id) {
            $0.revocationDate = $0.purchaseDate?.addingTimeInterval(60)
            $0.revocationPercentage = percentage
            $0.signedDate = $0.revocationDate
        }
    }

    private func reversed(_ id: String) throws -> [UInt8] {
        try coins(id) { $0.signedDate = $0.purchaseDate?.addingTimeInterval(120) }
    }

    private func fulfil(
        _ order: Order, _ world: LedgerWorld, _ units: Int64? = nil, key: String? = nil
    ) async throws -> FulfilOrder.Outcome {
        let once = key.map {
            IdempotentRequest(
                sender: ["key"], key: $0, method: "POST", path: order.id.uuidString, body: Array("\(units ?? 0)".utf8))
        }
        return try await world.ledger.perform(FulfilOrder(app: "example", orderID: order.id, units: units, once: once))
    }

    private func refusal(
        _ order: Order, _ world: LedgerWorld, _ units: Int64? = nil
    ) async throws -> LedgerRefusal? {
        await #expect(throws: LedgerRefusal.self) { _ = try await fulfil(order, world, units) }
    }

    private func paid(_ world: LedgerWorld) async throws -> Order {
        let order = try await world.order(quantity: 3)
        _ = try await world.claim("1", order: order.id, try coins("1"))
        return order
    }

    @Test("C.8 An order is fulfilled in parts; the last one ends it")
    func parts() async throws {
        let order = try await paid(world)
        let first = try await fulfil(order, world, 1)
        #expect(first.units == 1 && !first.isReplayed && first.order.status == .paid)
        #expect(first.order.fulfilledUnits == 1 && first.order.fulfilledAt == nil)
        #expect(try await world.entitlement()?.balance == 2)
        // At most what remains is taken.
        let second = try await fulfil(order, world, 5)
        #expect(second.units == 2 && second.order.status == .fulfilled && second.order.fulfilledUnits == 3)
        #expect(try await world.entitlement()?.balance == 0)
        for units in [nil, 1] as [Int64?] {
            let again = try await fulfil(order, world, units)
            #expect(again.isReplayed && again.units == nil)
        }
        #expect(
            try await world.events() == [
                "order_created", "granted", "order_paid", "order_partly_fulfilled", "order_fulfilled",
            ])
    }

    @Test(
        "C.8 An order that was partly consumed, refunded or delivered is refused as a whole, and its rest is fulfilled")
    func rest() async throws {
        for (number, change) in ["consumed", "refunded", "delivered"].enumerated() {
            let order = try await world.order(quantity: 3)
            let id = "\(number + 1)"
            _ = try await world.claim(id, order: order.id, try coins(id))
            switch change {
            case "consumed": _ = try await world.consume(1, "use")
            case "refunded": try await world.observe(try refunded(id, 33_333))
            default: _ = try await fulfil(order, world, 1)
            }
            let whole = try await refusal(order, world)
            #expect(whole?.code == .orderConsumed && whole?.expected == "3" && whole?.found == "2", "\(change)")
            let rest = try await fulfil(order, world, 3)
            #expect(rest.units == 2 && rest.order.status == .fulfilled, "\(change)")
            #expect(try await world.entitlement()?.balance == 0, "\(change)")
        }
    }

    @Test("C.8 An order of which nothing remains is refused, and can be closed with a reason")
    func nothing() async throws {
        let order = try await paid(world)
        _ = try await world.consume(3, "use")
        for units in [nil, 1] as [Int64?] {
            let refused = try await refusal(order, world, units)
            #expect(refused?.code == .orderConsumed && refused?.found == "0")
        }
        let close = CloseOrder(app: "example", orderID: order.id, reason: "used in the app")
        for isRepeated in [false, true] {
            let closed = try await world.ledger.perform(close)
            #expect(closed.order.status == .closed && closed.isReplayed == isRepeated)
            #expect(closed.order.closedAt != nil && closed.order.payment?.transactionID == "1")
        }
        #expect(try await refusal(order, world, 1)?.code == .orderNotPaid)
        let events = try await world.ledger.answer(EventList(app: "example", limit: 100))
        #expect(events.last?.type == "order_closed" && events.count { $0.type == "order_closed" } == 1)
        #expect(try await world.ledger.answer(OrderList(app: "example", status: .closed, limit: 9)).entries.count == 1)
    }

    @Test("C.8 Only a paid order is closed; a closed one keeps its payment and its purchase")
    func closed() async throws {
        func close(_ order: Order) async throws -> Order {
            try await world.ledger.perform(CloseOrder(app: "example", orderID: order.id, reason: "over")).order
        }
        let open = try await world.order(quantity: 2)
        let refused = await #expect(throws: LedgerRefusal.self) { _ = try await close(open) }
        #expect(refused?.code == .orderNotClosable && refused?.expected == "paid" && refused?.found == "created")
        let order = try await paid(world)
        _ = try await fulfil(order, world, 1)
        #expect(try await close(order).status == .closed)
        // The rest stays in the balance, and the purchase pays no other order.
        #expect(try await world.entitlement()?.balance == 2)
        let other = try await world.order(quantity: 3)
        let claimed = try await world.claim("1", order: other.id, try coins("1"))
        #expect(claimed.claimedBy == .anotherOrder)
        let repeated = try await world.claim("1", order: order.id, try coins("1"))
        #expect(repeated.code == "accepted" && repeated.isReplayed && repeated.orderStatus == .closed)
        #expect(try await world.claim("2", order: order.id, try coins("2")).code == "order_already_paid")
        // Neither a refund nor its reversal opens it again.
        try await world.observe(try refunded("1", 100_000))
        #expect(try await world.order(order.id).status == .closed)
        #expect(try await world.entitlement()?.shortfall == 1)
        try await world.observe(try reversed("1"))
        #expect(try await world.order(order.id).status == .closed)
    }

    @Test(
        "C.8 A refund between two deliveries leaves less, a whole refund ends the order, and a reversal gives it back")
    func refundBetween() async throws {
        let order = try await paid(world)
        _ = try await fulfil(order, world, 1)
        try await world.observe(try refunded("1", 100_000))
        #expect(try await world.order(order.id).status == .refunded)
        #expect(try await world.entitlement()?.shortfall == 1)
        #expect(try await refusal(order, world, 1)?.code == .orderNotPaid)
        try await world.observe(try reversed("1"))
        let restored = try await world.order(order.id)
        #expect(restored.status == .paid && restored.fulfilledUnits == 1)
        let rest = try await fulfil(order, world, 3)
        #expect(rest.units == 2 && rest.order.status == .fulfilled)
    }

    @Test("C.8 The order of a pass is fulfilled in parts as far as the pass was not refunded")
    func passes() async throws {
        let order = try await world.order(product: LedgerWorld.pass, quantity: 3)
        func pass(_ change: @escaping (inout SignedTransactionTemplate) -> Void = { _ in }) throws -> [UInt8] {
            try LedgerWorld.signed("1", product: LedgerWorld.pass) {
                $0.quantity = 3
                change(&$0)
            }
        }
        _ = try await world.claim("1", product: LedgerWorld.pass, order: order.id, try pass())
        #expect(try await fulfil(order, world, 1).units == 1)
        try await world.observe(
            try pass {
                $0.revocationDate = $0.purchaseDate?.addingTimeInterval(60)
                $0.revocationPercentage = 33_333
                $0.signedDate = $0.revocationDate
            })
        let rest = try await fulfil(order, world, 9)
        #expect(rest.units == 1 && rest.order.status == .fulfilled && rest.order.fulfilledUnits == 2)
    }

    @Test("C.8 A request for units is done once under its idempotency key, and says again what it took")
    func once() async throws {
        let order = try await paid(world)
        let answers = try await withThrowingTaskGroup(of: FulfilOrder.Outcome.self) { group in
            for _ in 0..<4 { group.addTask { try await fulfil(order, world, 2, key: "a") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count { !$0.isReplayed } == 1 && answers.allSatisfy { $0.units == 2 })
        #expect(try await world.entitlement()?.balance == 1)
        let last = try await fulfil(order, world, 2, key: "b")
        #expect(last.units == 1 && last.order.status == .fulfilled)
        let again = try await fulfil(order, world, 2, key: "a")
        #expect(again.isReplayed && again.units == 2 && again.order.status == .fulfilled)
    }

    @Test(
        "C.8 An order with delivered units stays with its purchase, which is transferred or claimed for another order")
    func delivered() async throws {
        let order = try await world.order(quantity: 3)
        // No claim names the order.
        _ = try await world.claim("1", try coins("1"))
        _ = try await fulfil(order, world, 1)
        let other = try await world.order(quantity: 3)
        #expect(try await world.claim("1", order: other.id, try coins("1")).claimedBy == .anotherOrder)
        try await world.move("1", to: "bob")
        #expect(try await world.order(order.id).status == .paid)
        #expect(try await refusal(order, world, 1)?.code == .orderConsumed)
        #expect(try await world.entitlement(of: "bob")?.balance == 3)
        #expect(try await world.entitlement()?.shortfall == 1)
    }

    @Test("C.8 Parts and ends of orders of an erased customer leave nothing behind")
    func erased() async throws {
        let order = try await paid(world)
        _ = try await fulfil(order, world, 2)
        _ = try await world.ledger.perform(CloseOrder(app: "example", orderID: order.id, reason: "left"))
        try await world.erase("alice")
    }

    @Test("C.9 Several units of what the App Store sells one at a time cannot be ordered")
    func quantity() async throws {
        let refused = await #expect(throws: LedgerRefusal.self) {
            _ = try await world.order(product: LedgerWorld.pro, quantity: 2)
        }
        #expect(refused?.code == .quantityNotSold && refused?.expected == "1" && refused?.found == "2")
        _ = try await world.order(product: LedgerWorld.pro)
        _ = try await world.order(product: LedgerWorld.pass, quantity: 2)
        let orders = try await world.ledger.answer(OrderList(app: "example", limit: 9)).entries
        #expect(orders.map(\.quantity) == [2, 1])
    }

    @Test(
        "28.2 An order of seats is paid by a purchase of as many seats, by token or by a claim, and each addition pays its own"
    )
    func seats() async throws {
        func status(_ order: Order) async throws -> OrderStatus {
            try await world.order(order.id).status
        }
        let product = LedgerWorld.monthly
        let (five, two) = (
            try await world.order(product: product, quantity: 5),
            try await world.order(product: product, quantity: 2)
        )
        func team(
            _ id: String, _ quantity: Int64, stamp: Double? = nil, revoked: Int64 = 0
        ) throws -> [UInt8] {
            let isAddition = id != "900"
            return try MintedWorld.mint(
                try SeatCountTests.team(
                    id, quantity, from: isAddition ? 0.001 : 0, days: isAddition ? 29.999 : 30, stamp: stamp,
                    revokedSeats: revoked, isAddition: isAddition
                ) {
                    $0.appAccountToken = five.appAccountToken.uuidString.lowercased()
                    if revoked == quantity { $0.revocationDate = $0.signedDate }
                })
        }
        try await world.observe(try team("900", 5))
        #expect(try await status(five) == .paid)
        #expect(try await status(two) == .created)
        let claimed = try await world.claim("901", product: product, order: two.id, try team("901", 2))
        #expect(claimed.code == "accepted", "\(claimed.code)")
        #expect(try await status(two) == .paid)
        // One of two seats is refunded, then the other one.
        try await world.observe(try team("901", 2, stamp: 2, revoked: 1))
        #expect(try await status(two) == .paid)
        // Only the other one can be delivered.
        await #expect(throws: LedgerRefusal.self) {
            try await world.fulfil(two.id)
        }
        try await world.observe(try team("901", 2, stamp: 3, revoked: 2))
        #expect(try await status(two) == .refunded)
        #expect(try await status(five) == .paid)
        let other = try await world.order(product: product, quantity: 3)
        let mismatch = try await world.claim("900", product: product, order: other.id, try team("900", 5))
        #expect(mismatch.code == "quantity_mismatch", "\(mismatch.code)")
    }
}
