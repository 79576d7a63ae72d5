import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// A notification of a grace period without `gracePeriodExpiresDate`, over HTTP.
@Suite("Grace without its end")
struct GraceWithoutEndTests {
    /// A server whose customer alice has a period of 30 days.
    private static func run(
        _ body: @escaping @Sendable (PurchaseServerWorld) async throws -> Void
    ) async throws {
        try await PurchaseServerWorld.run { world async throws in
            world.clock.advance(days: 1)
            let payload = String(decoding: try MintedWorld.mint(DropInWorld.signed(1)), as: UTF8.self)
            let request = PurchaseRequest(
                signedTransaction: payload, productID: DropInWorld.monthly, transactionID: "9001", customerID: "alice")
            let claimed = try await world.send(.post, "/v1/purchases", request)
            #expect(claimed.status == 200, "\(claimed.text)")
            world.clock.advance(seconds: 2_548_800)
            try await body(world)
        }
    }

    private static func entitlement(_ world: PurchaseServerWorld) async throws -> EntitlementMessage {
        try #require(try await world.entitlements(of: "alice").first { $0.productID == DropInWorld.monthly })
    }

    private static func fail(_ info: inout RenewalInfoTemplate) {
        (info.autoRenewStatus, info.isInBillingRetryPeriod, info.gracePeriodExpiresDate) = (1, true, nil)
    }

    @Test("A signed status 4 keeps the customer's access, marked in the entitlement, in renewal and in the event")
    func marked() async throws {
        try await Self.run { world in
            #expect(try await Self.entitlement(world).graceEndUnknown == nil)
            try await DropInWorld.tell(world.client, DropInWorld.signed(1), on: 30.2, status: 4, Self.fail)
            let entitlement = try await Self.entitlement(world)
            #expect(entitlement.state == .active && entitlement.reason == .inGrace)
            #expect(entitlement.graceEndUnknown == true && entitlement.renewal?.graceEndUnknown == true)
            #expect(entitlement.until == "\(Timestamp(DropInWorld.date(46).addingTimeInterval(0.345)))")
            let listed = try await world.send(.get, "/v1/customers/alice/purchases", as: .backend)
                .message(TransactionPage.self)
            #expect(listed.purchases.first?.renewal?.graceEndUnknown == true)
            let events = try await world.send(.get, "/v1/events?limit=100", as: .backend).message(EventPage.self).events
            let told = try #require(events.first { $0.type == .renewalChanged })
            #expect(told.renewal?.graceEndUnknown == true && told.changed?.contains(.graceUntil) == true)
            world.clock.advance(days: 15)
            #expect(try await Self.entitlement(world).state == .active)
            world.clock.advance(days: 1)
            let over = try await Self.entitlement(world)
            #expect(over.state == .expired && over.reason == .billingRetry && over.graceEndUnknown == nil)
        }
    }

    @Test("It ends with a newer status, and with the renewal, whichever comes first", arguments: [1, 2, 3])
    func ended(status: Int64) async throws {
        try await Self.run { world in
            try await DropInWorld.tell(world.client, DropInWorld.signed(1), on: 30.2, status: 4, Self.fail)
            world.clock.advance(days: 2)
            // A repetition with another stamp leaves it, and so does a status that was signed before.
            try await DropInWorld.tell(world.client, DropInWorld.signed(1), on: 31, status: 4, Self.fail)
            try await DropInWorld.tell(world.client, DropInWorld.signed(1), on: 29, status: 1)
            #expect(try await Self.entitlement(world).reason == .inGrace)
            if status == 1 {
                try await DropInWorld.tell(world.client, DropInWorld.signed(2), on: 32, status: 1)
                let renewed = try await Self.entitlement(world)
                #expect(renewed.state == .active && renewed.reason == nil && renewed.graceEndUnknown == nil)
            } else {
                try await DropInWorld.tell(world.client, DropInWorld.signed(1), on: 32, status: status) {
                    ($0.autoRenewStatus, $0.isInBillingRetryPeriod) = (1, status == 3)
                    $0.expirationIntent = 2
                }
                let ended = try await Self.entitlement(world)
                #expect(ended.reason == (status == 3 ? .billingRetry : .expired) && ended.graceEndUnknown == nil)
            }
            let path = "/v1/customers/alice/entitlements?at=\(DropInWorld.date(31).formatted(.iso8601))"
            let before = try await world.send(.get, path, as: .backend).message(EntitlementList.self)
            #expect(before.entitlements.first?.state == .active)
        }
    }
}
