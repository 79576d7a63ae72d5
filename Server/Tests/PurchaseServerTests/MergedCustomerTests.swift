import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

/// Requests that name a customer who was merged into another.
@Suite("Merged customers")
struct MergedCustomerTests {
    var world: PurchaseServerWorld { CurrentWorld.opened() }

    private static let coins = "com.example.app.coins"

    private static func merge(_ customer: String, into survivor: String, _ world: PurchaseServerWorld) async throws {
        let answer = try await world.send(
            .post, "/v1/customers/\(customer)/merge", MergeRequest(into: survivor), as: .backend)
        #expect(answer.status == 200, "\(answer.text)")
    }

    /// The member `merged_into` of an answer.
    private static func survivor(_ answer: PurchaseServerWorld.Answer) throws -> String? {
        let object = try JSONSerialization.jsonObject(with: Data(answer.text.utf8))
        return (try #require(object as? [String: Any]))["merged_into"] as? String
    }

    @Test("E.4 Every answer about a merged customer names the survivor, and no other answer has merged_into", .server)
    func answers() async throws {
        let bought = try PurchaseServerWorld.signed("1").claim(customerID: "phone")
        #expect(try await world.send(.post, "/v1/purchases", bought, as: .client).status == 200)
        try await Self.merge("phone", into: "tablet", world)
        try await Self.merge("tablet", into: "alice", world)
        for (number, name) in ["phone", "tablet", "alice"].enumerated() {
            let survivor = name == "alice" ? nil : "alice"
            let grant = try await world.send(
                .post, "/v1/customers/\(name)/grants", GrantRequest(productID: Self.coins, reason: "a gift"))
            let id = try grant.message(GrantMessage.self).grantID
            let revoked = try PurchaseServerWorld.signed("5\(number)") { $0.revocationDate = MintedWorld.moment }
            func send(
                _ method: HTTPRequest.Method, _ path: String, _ message: (any Encodable)? = nil,
                as scope: APIKeyScope = .backend
            ) async throws -> PurchaseServerWorld.Answer {
                guard let message else { return try await world.send(method, path, as: scope) }
                return try await world.send(method, path, message, as: scope)
            }
            let (customer, claimed) = ("/v1/customers/\(name)", try PurchaseServerWorld.signed("1"))
            let token = AccountTokenRequest(appAccountToken: UUID().uuidString)
            let use = ConsumptionRequest(productID: Self.coins, consumptionID: "1")
            let restore = RestoreRequest(customerID: name, signedTransactions: [revoked.jws])
            let answers: [(act: String, status: Int, answer: PurchaseServerWorld.Answer)] = [
                ("grant", 201, grant),
                (
                    "revocation", 201,
                    try await send(
                        .post, "\(customer)/revocations", RevocationRequest(grantID: id, reason: "x"), as: .admin)
                ),
                ("tester", 200, try await send(.put, "/v1/testers/\(name)", as: .admin)),
                ("no tester", 200, try await send(.delete, "/v1/testers/\(name)", as: .admin)),
                ("token", 200, try await send(.put, "\(customer)/app_account_token", token)),
                ("purchases", 200, try await send(.get, "\(customer)/purchases")),
                ("entitlements", 200, try await send(.get, "\(customer)/entitlements")),
                ("claim", 200, try await send(.post, "/v1/purchases", claimed.claim(customerID: name), as: .client)),
                (
                    "refused claim", 422,
                    try await send(.post, "/v1/purchases", revoked.claim(customerID: name), as: .backend)
                ),
                ("restore", 200, try await send(.post, "/v1/restores", restore, as: .backend)),
                ("consumption", 200, try await send(.post, "\(customer)/consume", use)),
                ("timeline", 200, try await send(.get, "\(customer)/timeline")),
            ]
            for (act, status, answer) in answers {
                #expect(answer.status == status, "\(act) \(name): \(answer.text)")
                #expect(try Self.survivor(answer) == survivor, "\(act) \(name): \(answer.text)")
            }
        }
        let unknown = try await world.send(.get, "/v1/customers/nobody/purchases", as: .backend)
        #expect(try Self.survivor(unknown) == nil)
        for (name, survivor) in [("phone", "alice" as String?), ("bob", nil)] {
            let id = "9\(name)"
            let claim = try PurchaseServerWorld.signed(id).claim(customerID: "carol")
            #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
            let moved = try await world.send(
                .post, "/v1/purchases/\(id)/move", MoveRequest(customerID: name, reason: "x"))
            #expect(try Self.survivor(moved) == survivor, "\(moved.text)")
        }
    }

    @Test(
        "E.4 The list of testers and both deletions go by the survivor",
        .server { $0.apps["example"]?.sandboxAccess = .testers }, arguments: ["tx", "px"])
    func testers(_ removed: String) async throws {
        func testers() async throws -> [String] {
            try await world.send(.get, "/v1/testers").message(TesterNames.self).testers
        }
        let claim = try PurchaseServerWorld.signed("1") { $0.environment = "Sandbox" }.claim(customerID: "px")
        #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
        #expect(try await world.send(.put, "/v1/testers/tx").status == 200)
        try await Self.merge("tx", into: "px", world)
        #expect(try await testers() == ["px"])
        #expect(try await world.entitlements(of: "px").map(\.state) == [.active])
        for isRepeated in [false, true] {
            for name in [removed, removed == "tx" ? "px" : "tx"] {
                let answer = try await world.send(.delete, "/v1/testers/\(name)").message(TesterMessage.self)
                #expect(answer.tester == false && answer.replayed == (isRepeated || name != removed))
                #expect(try await testers().isEmpty)
                #expect(try await world.entitlements(of: "px").map(\.state) == [.pending])
            }
        }
        // Again under either name.
        #expect(try await world.send(.put, "/v1/testers/\(removed)").status == 200)
        #expect(try await testers() == ["px"])
        #expect(try await world.entitlements(of: "tx").map(\.state) == [.active])
    }
}
