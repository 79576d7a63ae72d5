import Foundation
import HTTPTypes
import KitTestSupport
import NIOCore
import PurchaseAPI
import PurchaseKit
import PurchaseLedger
import PurchaseMessages
import ServerTestSupport
import Synchronization
import Testing

/// All of a customer's account, asked of the real server.
@Suite("The account, by the server")
struct ServerAccountTests {
    @Test("8.4 A guest who moved to a second phone has 10 coins and the named entitlement there")
    func guest() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let first = try await device.engine(isSignedIn: false)
            let guest = try await first.signInAsGuest()
            #expect(await first.buy("coins", quantity: 10).code == "granted")
            #expect(await first.buy("monthly").code == "granted")
            #expect(try await first.entitlements().isActive("pro"))
            // The App Store of the second phone lists nothing.
            let moved = device.otherStore
            try moved.keepGuest(try device.store.guest())
            device.queue.listsNothing.withLock { $0 = true }
            let second = try await device.engine(isSignedIn: false, store: moved)
            #expect(try await second.signInAsGuest() == guest)
            await second.refreshEntitlements()
            #expect(try await second.balance(of: "coins") == 10)
            #expect(try await second.entitlements().isActive("pro"))
        }
    }

    @Test("8.2 On a new phone without a login, a tap on Restore brings what a guest bought, and a look does not")
    func newPhone() async throws {
        var app = KitWorld.app
        app.guestRestore = .move
        try await KitWorld.run(app) { world in
            let device = try await world.device()
            let first = try await device.engine(isSignedIn: false)
            let guest = try await first.signInAsGuest()
            #expect(await first.buy("monthly").code == "granted")
            // Neither the record nor the guest moved.
            let second = try await device.engine(isSignedIn: false, store: device.otherStore)
            #expect(try await second.signInAsGuest() != guest)
            await second.refreshEntitlements()
            #expect(try await second.active().isEmpty)
            #expect(await second.restore().granted.map(\.productID) == ["monthly"])
            #expect(try await second.entitlements().isActive("pro"))
            await first.refreshEntitlements(evenIfKnown: true)
            #expect(try await first.active().isEmpty)
            // A month is between two such restores.
            #expect(await first.restore().refused.values.map(\.code.rawValue) == ["already_claimed"])
        }
    }

    @Test("8.4 A grant by support arrives with a token of the backend, and never for another customer")
    func support() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            try await world.give("pro", to: device.customer)
            let without = try await device.engine()
            await without.refreshEntitlements()
            #expect(try await without.active().isEmpty && device.link.paths.isEmpty)
            let engine = try await device.engine { try await world.token(of: $0) }
            await engine.refreshEntitlements()
            #expect(try await engine.active() == ["pro"])
            #expect(device.link.paths == ["/v1/me/entitlements"])
            let customer = device.customer
            let other = try await world.device()
            let wrong = try await other.engine { _ in try await world.token(of: customer) }
            await wrong.refreshEntitlements()
            #expect(try await wrong.active().isEmpty)
        }
    }
}

extension ServerAccountTests {
    @Test("54.7 A shop shows the offers that the server would sign, and without its answer those of the system")
    func offers() async throws {
        var app = KitWorld.app
        app.offers.promotional["back"] = OfferRule()
        try await KitWorld.run(app) { world in
            let device = try await world.device()
            func offer(_ kind: PurchaseProductOffer.Kind, _ id: String?, _ isEligible: Bool?) -> PurchaseProductOffer {
                PurchaseProductOffer(
                    offerID: id, kind: kind, payment: .freeTrial, price: 0, priceText: "0",
                    period: PurchasePeriod(1, .month),
                    isEligible: isEligible)
            }
            device.queue.onSale.withLock {
                $0 = ["monthly", "yearly"].map { id in
                    PurchaseProduct(
                        productID: id, name: id, price: 1, priceText: "1",
                        offers: [offer(.introductory, nil, id == "monthly"), offer(.promotional, "back", nil)])
                }
            }
            func shown(_ engine: PurchaseEngine) async throws -> [Bool?] {
                try await engine.products(["monthly", "yearly"]).flatMap(\.offers).map(\.isEligible)
            }
            /// The shop does not wait long for the server, and a busy machine answers late.
            func shows(_ expected: [Bool?], _ engine: PurchaseEngine) async throws {
                for _ in 0..<100 {
                    if try await shown(engine) == expected { return }
                    try await device.settle()
                }
                #expect(try await shown(engine) == expected)
            }
            let engine = try await device.engine { try await world.token(of: $0) }
            try await shows([true, false, false, false], engine)
            #expect(await engine.buy("monthly").code == "granted")
            // The stand-in of the system does not know that the introductory offer is used.
            try await shows([true, true, false, true], engine)
            let without = try await device.engine()
            #expect(try await shown(without) == [true, nil, false, nil])
        }
    }
}

extension KitWorld {
    /// Grants a product by hand, as support does.
    fileprivate func give(_ product: String, to customer: String) async throws {
        let request = GrantRequest(productID: product, reason: "goodwill")
        let answer = try await server.execute(
            uri: "/v1/customers/\(customer)/grants", method: .post, headers: [.authorization: "Bearer \(adminKey)"],
            body: ByteBuffer(bytes: try JSONEncoder().encode(request)))
        try #require(answer.status.code == 201, "\(String(buffer: answer.body))")
    }

    /// A token of a customer, as the app's backend gets it.
    fileprivate func token(of customer: String) async throws -> String {
        let answer = try await server.execute(
            uri: "/v1/customers/\(customer)/tokens", method: .post, headers: [.authorization: "Bearer \(backendKey)"])
        try #require(answer.status.code == 201, "\(String(buffer: answer.body))")
        return try JSONDecoder().decode(CustomerTokenMessage.self, from: Data(answer.body.readableBytesView)).token
    }
}
