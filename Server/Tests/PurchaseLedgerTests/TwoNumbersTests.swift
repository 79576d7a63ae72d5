import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Restores, resubscriptions and late notifications give one purchase two transaction ids: N, of which a notification
/// tells, and D, which the device claims.
@Suite("B.1 The unit of orders is the purchase with all its copies", .ledger)
struct TwoNumbersTests {
    let world: LedgerWorld = CurrentWorld.opened()

    private static let monthly = LedgerWorld.monthly

    /// The period as transaction N or D.
    private func period(_ id: String, after seconds: Double = 0, token: UUID? = nil) throws -> [UInt8] {
        try LedgerWorld.period(id, from: 0) {
            $0.webOrderLineItemID = "77"
            $0.purchaseDate = $0.purchaseDate?.addingTimeInterval(seconds)
            $0.appAccountToken = token?.uuidString.lowercased()
        }
    }

    private let notified = "901"
    private let device = "902"

    private func order(_ world: LedgerWorld) async throws -> Order {
        let order = try await world.order(product: Self.monthly)
        world.clock.advance(seconds: 60)
        return order
    }

    private func states(_ orders: Order..., in world: LedgerWorld) async throws -> [OrderStatus] {
        var states: [OrderStatus] = []
        for order in orders { states.append(try await world.order(order.id).status) }
        return states
    }

    private func payments(_ world: LedgerWorld) async throws -> Int {
        try await world.events().count { $0 == "order_paid" }
    }

    @Test(
        "A claim of the device's number pays its order, although a notification told of another number",
        arguments: [0.0, 60, -60])
    func withoutToken(seconds: Double) async throws {
        let order = try await order(world)
        try await world.observe(try period(notified))
        let evidence = try period(device, after: seconds)
        let outcome = try await world.claim(device, product: Self.monthly, order: order.id, evidence)
        #expect(outcome.code == "accepted" && outcome.disposition == .granted && !outcome.isReplayed)
        #expect(outcome.orderID == order.id && outcome.orderStatus == .paid && outcome.entitlement?.state == .active)
        #expect(try await states(order, in: world) == [.paid])
        let again = try await world.claim(device, product: Self.monthly, order: order.id, evidence)
        #expect(again.code == "accepted" && again.isReplayed && again.orderID == order.id)
        // The other number is the same purchase.
        let other = try await world.claim(notified, product: Self.monthly, order: order.id, try period(notified))
        #expect(other.code == "accepted" && other.orderID == order.id)
        #expect(try await world.claim(notified, product: Self.monthly, try period(notified)).orderID == order.id)
        #expect(try await payments(world) == 1)
        let fulfilled = try await world.fulfil(order.id)
        #expect(fulfilled.order.status == .fulfilled)
        let late = try await world.claim(notified, product: Self.monthly, order: order.id, try period(notified))
        #expect(late.code == "accepted" && late.orderStatus == .fulfilled)
    }

    @Test("A claim that names the order which the other number paid by its token is accepted, and pays nothing again")
    func withToken() async throws {
        let order = try await order(world)
        try await world.observe(try period(notified, token: order.appAccountToken))
        #expect(try await states(order, in: world) == [.paid])
        let outcome = try await world.claim(device, product: Self.monthly, order: order.id, try period(device))
        #expect(outcome.code == "accepted" && outcome.disposition == .granted)
        #expect(outcome.orderID == order.id && outcome.orderStatus == .paid)
        #expect(try await payments(world) == 1)
        #expect(try await !world.events().contains("order_reopened"))
    }

    @Test(
        "A payment that a claim of one number named stays, whichever number a claim with another order sends",
        arguments: [false, true], [false, true])
    func namedStays(hasToken: Bool, isNotified: Bool) async throws {
        let first = try await order(world)
        let second = try await order(world)
        try await world.observe(try period(notified, token: hasToken ? first.appAccountToken : nil))
        let named = try await world.claim(device, product: Self.monthly, order: first.id, try period(device))
        #expect(named.code == "accepted" && named.orderID == first.id)
        let id = isNotified ? notified : device
        let other = try await world.claim(id, product: Self.monthly, order: second.id, try period(id))
        #expect(other.code == "already_claimed" && other.claimedBy == .anotherOrder && other.disposition == .granted)
        #expect(try await states(first, second, in: world) == [.paid, .created])
        // What one claim could not do, the next one cannot.
        _ = try await world.claim(id, product: Self.monthly, order: second.id, try period(id))
        #expect(try await states(first, second, in: world) == [.paid, .created])
    }

    @Test("A payment that no claim named moves to the order that a claim of the other number names")
    func unnamedMoves() async throws {
        let first = try await order(world)
        let second = try await order(world)
        try await world.observe(try period(notified, token: first.appAccountToken))
        #expect(try await states(first, second, in: world) == [.paid, .created])
        let outcome = try await world.claim(device, product: Self.monthly, order: second.id, try period(device))
        #expect(outcome.code == "accepted" && outcome.orderID == second.id)
        #expect(try await states(first, second, in: world) == [.created, .paid])
        // Now a claim named the order that is paid.
        let back = try await world.claim(notified, product: Self.monthly, order: first.id, try period(notified))
        #expect(back.claimedBy == .anotherOrder)
        #expect(try await states(first, second, in: world) == [.created, .paid])
    }

    /// What arrives: the notification, with the token or without it, and the claim of the device's number.
    @Test(
        "The named order is paid in whatever order the numbers arrive",
        arguments: [[0, 1], [1, 0], [0, 1, 0], [1, 0, 1], [0, 0, 1], [1, 1, 0]], [false, true])
    func arrivals(arrivals: [Int], hasToken: Bool) async throws {
        let first = try await order(world)
        let named = try await order(world)
        for arrival in arrivals {
            if arrival == 0 {
                try await world.observe(try period(notified, token: hasToken ? first.appAccountToken : nil))
            } else {
                let outcome = try await world.claim(device, order: named.id, try period(device, after: 60))
                #expect(outcome.code == "accepted" && outcome.orderID == named.id)
            }
        }
        #expect(try await states(first, named, in: world) == [.created, .paid])
    }

    @Test(
        "A claim names the order before the token of the other number is known: that order is paid, in either order",
        .ledger({ $0.requiresAccountToken = true }), arguments: [false, true])
    func heldClaim(isClaimFirst: Bool) async throws {
        let first = try await order(world)
        let named = try await order(world)
        func claim() async throws -> PurchaseOutcome {
            try await world.claim(device, product: Self.monthly, order: named.id, try period(device, after: 60))
        }
        if isClaimFirst { #expect(try await claim().code == "account_token_needed") }
        try await world.observe(try period(notified, token: first.appAccountToken))
        if !isClaimFirst { #expect(try await claim().code == "accepted") }
        #expect(try await states(first, named, in: world) == [.created, .paid])
    }

    @Test(
        "A claim with an order that does not fit keeps the purchase from other orders, in whatever order they arrive",
        arguments: [false, true])
    func unfitting(isClaimFirst: Bool) async throws {
        let open = try await order(world)
        let wrong = try await world.order(product: LedgerWorld.yearly)
        if !isClaimFirst { try await world.observe(try period(notified)) }
        let outcome = try await world.claim(device, order: wrong.id, try period(device, after: 60))
        #expect(outcome.code == "product_mismatch" && outcome.disposition == .granted)
        if isClaimFirst { try await world.observe(try period(notified)) }
        #expect(try await states(open, wrong, in: world) == [.created, .created])
        // A claim that names the fitting order pays it.
        let named = try await world.claim(notified, product: Self.monthly, order: open.id, try period(notified))
        #expect(named.code == "accepted" && named.orderStatus == .paid)
    }

    @Test("The token of a copy gives the purchase its owner, so it pays the owner's order")
    func tokenOfCopy() async throws {
        let order = try await order(world)
        try await world.observe(try period(notified))
        #expect(try await states(order, in: world) == [.created])
        try await world.observe(try period(device, after: 60, token: order.appAccountToken))
        #expect(try await states(order, in: world) == [.paid])
        let outcome = try await world.claim(notified, product: Self.monthly, order: order.id, try period(notified))
        #expect(outcome.code == "accepted" && outcome.orderStatus == .paid)
        #expect(try await payments(world) == 1)
    }

    @Test("A purchase from before an order does not pay it by a copy that was made later", arguments: [false, true])
    func oldPurchase(isNamed: Bool) async throws {
        _ = try await world.claim(notified, product: Self.monthly, try period(notified))
        world.clock.advance(days: 1)
        let order = try await order(world)
        let copy = try period(device, after: 86_430)
        let outcome = try await world.claim(device, order: isNamed ? order.id : nil, copy)
        #expect(outcome.code == (isNamed ? "purchase_outside_order" : "accepted"))
        #expect(outcome.disposition == .granted)
        #expect(try await states(order, in: world) == [.created])
    }

    @Test("A copy of a consumable that names the order of the purchase is accepted, and gives nothing twice")
    func consumable() async throws {
        let order = try await world.order()
        let other = try await world.order()
        let copy = try LedgerWorld.signed("2") { $0.originalTransactionID = "1" }
        try await world.observe(try LedgerWorld.signed("1"))
        let outcome = try await world.claim("2", order: order.id, copy)
        #expect(outcome.code == "accepted" && outcome.orderStatus == .paid)
        #expect(try await world.claim("2", order: other.id, copy).claimedBy == .anotherOrder)
        #expect(try await world.claim("2", copy).claimedBy == .restoredCopy)
        #expect(try await world.entitlement()?.balance == 1)
        #expect(try await states(order, other, in: world) == [.paid, .created])
    }

    @Test("A refund that one number states refunds the order that the other paid, and a reversal pays it again")
    func refund() async throws {
        let order = try await order(world)
        try await world.observe(try period(notified))
        _ = try await world.claim(device, product: Self.monthly, order: order.id, try period(device))
        func signed(_ seconds: Double, isRevoked: Bool) throws -> [UInt8] {
            try LedgerWorld.period(notified, from: 0) {
                $0.webOrderLineItemID = "77"
                $0.sign($0.purchaseDate?.addingTimeInterval(seconds), isRevoked: isRevoked)
            }
        }
        try await world.observe(try signed(120, isRevoked: true))
        #expect(try await states(order, in: world) == [.refunded])
        try await world.observe(try signed(180, isRevoked: false))
        #expect(try await states(order, in: world) == [.paid])
    }

    @Test("A claim that names an order while the purchase is refunded: the reversal pays that order, and no other")
    func namedWhileRefunded() async throws {
        let first = try await order(world)
        let named = try await order(world)
        func signed(_ id: String, _ seconds: Double, isRevoked: Bool) throws -> [UInt8] {
            try LedgerWorld.period(id, from: 0) {
                $0.webOrderLineItemID = "77"
                $0.sign($0.purchaseDate?.addingTimeInterval(seconds), isRevoked: isRevoked)
            }
        }
        let refused = try await world.claim(device, order: named.id, try signed(device, 60, isRevoked: true))
        #expect(refused.code == "purchase_revoked")
        try await world.observe(try signed(notified, 120, isRevoked: false))
        #expect(try await states(first, named, in: world) == [.created, .paid])
    }
}
