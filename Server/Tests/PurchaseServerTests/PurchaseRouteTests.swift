import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

/// The purchase server, over real HTTP.
@Suite("The purchase server", .server)
struct PurchaseRouteTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    @Test("From the order to the balance: created, paid, fulfilled, used")
    func flow() async throws {
        let coins = "com.example.app.coins"
        let created = try await world.send(
            .post, "/v1/orders",
            OrderRequest(customerID: "alice", productID: coins, quantity: 3, metadata: ["basket": "7"]),
            as: .backend)
        #expect(created.status == 201)
        let order = try created.message(OrderMessage.self)
        #expect(order.status == .created && order.metadata == ["basket": "7"])
        #expect(UUID(uuidString: order.appAccountToken) != nil)
        let claim = try PurchaseServerWorld.purchase(customerID: nil, orderID: order.orderID)
        let paid = try await world.send(.post, "/v1/purchases", claim, as: .client)
        #expect(paid.status == 200, "\(paid.text)")
        let answer = try paid.message(PurchaseAnswer.self)
        #expect(answer.verdict == .accepted && !answer.replayed && answer.order?.status == .paid)
        #expect(answer.disposition == .granted && answer.leafHash.count == 64)
        #expect(answer.transaction.environment == .sandbox && answer.transaction.ownerReason == .claim)
        #expect(answer.entitlement?.balance == 3)
        let again = try await world.send(.post, "/v1/purchases", claim, as: .client)
        #expect(try again.message(PurchaseAnswer.self).replayed)
        let listed = try await world.send(.get, "/v1/orders?status=paid", as: .backend)
        #expect(try listed.message(OrderPage.self).orders.first?.orderID == order.orderID)
        for isRepeated in [false, true] {
            let fulfilled = try await world.send(.post, "/v1/orders/\(order.orderID)/fulfil", as: .backend)
            #expect(fulfilled.status == 200)
            let message = try fulfilled.message(OrderMessage.self)
            #expect(message.status == .fulfilled && message.replayed == isRepeated)
        }
        // Fulfilling delivers the whole lot, so none of it is left in the balance.
        let used = try await world.send(
            .post, "/v1/customers/alice/consume", PurchaseServerWorld.consumption("1"), as: .backend)
        #expect(try used.problem == "balance_insufficient" && used.status == 409)
        let typed = try await world.send(
            .post, "/v1/customers/alice/consume",
            ConsumptionRequest(productID: "com.example.app.cions", quantity: 1, consumptionID: "typed"),
            as: .backend)
        #expect(try typed.problem == "product_unknown" && typed.status == 422, "\(typed.text)")
        let shown = try await world.send(.get, "/v1/orders/\(order.orderID)", as: .backend)
        let payment = try #require(try shown.message(OrderMessage.self).payment)
        #expect(payment.transactionID == "2000000000000001" && payment.environment == .sandbox)
        let purchase = try await world.send(.get, "/v1/purchases/2000000000000001", as: .backend)
        let recorded = try #require(try purchase.message(TransactionPage.self).purchases.first)
        #expect(recorded.orderID == order.orderID && recorded.customerID == "alice" && recorded.quantity == 3)
        let all = try await world.send(.get, "/v1/customers/alice/purchases", as: .backend)
        #expect(try all.message(TransactionPage.self).purchases.count == 1, "nobody claimed the others")
    }

    @Test("An order of consumables is delivered or consumed, never both")
    func partlyConsumed() async throws {
        let created = try await world.send(
            .post, "/v1/orders",
            OrderRequest(customerID: "alice", productID: "com.example.app.coins", quantity: 3), as: .backend)
        let order = try created.message(OrderMessage.self).orderID
        let claim = try PurchaseServerWorld.purchase(customerID: nil, orderID: order)
        #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
        let used = try await world.send(
            .post, "/v1/customers/alice/consume", PurchaseServerWorld.consumption("1", quantity: 2), as: .backend)
        let consumption = try used.message(ConsumptionMessage.self)
        #expect(consumption.balance == 1 && !consumption.replayed && consumption.shortfall == 0)
        let refused = try await world.send(.post, "/v1/orders/\(order)/fulfil", as: .backend)
        #expect(try refused.line == "409 order_consumed")
    }

    @Test("A signed free trial pays the order of its subscription, and the answers show price and offer")
    func freeTrial() async throws {
        let created = try await world.send(
            .post, "/v1/orders",
            OrderRequest(
                customerID: "alice", productID: "com.example.app.monthly", environment: .production), as: .backend)
        let order = try created.message(OrderMessage.self)
        #expect(order.environment == .production && order.replayed == false)
        let trial = try PurchaseServerWorld.signed("1", product: "com.example.app.monthly") {
            $0.type = .autoRenewableSubscription
            $0.expiresDate = MintedWorld.moment.addingTimeInterval(604_800)
            $0.price = 0
            $0.currency = "EUR"
            $0.offerType = 1
            $0.offerDiscountType = "FREE_TRIAL"
            $0.appAccountToken = order.appAccountToken
        }
        let paid = try await world.send(.post, "/v1/purchases", trial.claim(orderID: order.orderID), as: .client)
        let answer = try paid.message(PurchaseAnswer.self)
        #expect(answer.order?.status == .paid && answer.transaction.ownerReason == .accountToken)
        let payment = try #require(answer.order?.payment)
        #expect(payment.price == 0 && payment.currency == "EUR" && payment.offer?.discountType == "FREE_TRIAL")
        #expect(answer.transaction.offer == payment.offer && answer.transaction.price == 0)
        let shown = try await world.send(.get, "/v1/orders/\(order.orderID)", as: .backend)
        #expect(try shown.message(OrderMessage.self).payment == payment)
    }

    @Test("An order of an environment that the app does not accept is refused")
    func orderEnvironment() async throws {
        let order = OrderRequest(
            customerID: "alice", productID: "com.example.app.coins", environment: EnvironmentName(rawValue: "Prod"))
        let refused = try await world.send(.post, "/v1/orders", order, as: .backend)
        #expect(try refused.status == 400 && refused.document?.expected == "environment: Production, Sandbox")
    }

    @Test("Evidence is observed even if its claim is refused: a refund without a customer withdraws the purchase")
    func refundWithoutCustomer() async throws {
        let bought = try PurchaseServerWorld.signed("1")
        #expect(try await world.send(.post, "/v1/purchases", bought.claim(), as: .client).status == 200)
        let refund = try PurchaseServerWorld.signed("1") { $0.refund(at: MintedWorld.moment.addingTimeInterval(50)) }
        let refused = try await world.send(.post, "/v1/purchases", refund.claim(customerID: nil), as: .client)
        #expect(try refused.line == "400 field_missing" && refused.document?.disposition == .operator)
        let entitlement = try #require(try await world.entitlements(of: "alice").first)
        #expect(entitlement.state == .withdrawn && entitlement.balance == 0)
        let again = try await world.send(.post, "/v1/purchases", bought.claim(), as: .client, idempotencyKey: "any")
        #expect(try again.problem == "purchase_withdrawn" && again.document?.disposition == .refused)
        let recorded = try await world.send(.get, "/v1/purchases/1", as: .backend)
        #expect(try recorded.message(TransactionPage.self).purchases.first?.withdrawal?.reason == .revoked)
    }

    @Test("The evidence of a submission is returned byte for byte; without evidence it is a 404")
    func evidence() async throws {
        let claim = try PurchaseServerWorld.purchase()
        let answer = try await world.send(.post, "/v1/purchases", claim, as: .client).message(PurchaseAnswer.self)
        let path = "/v1/submissions/\(answer.submissionID)/evidence"
        let evidence = try await world.send(.get, path, as: .backend)
        #expect(evidence.status == 200 && evidence.text == claim.receiptData)
        #expect(evidence.headers[.contentType] == "application/octet-stream")
        #expect(evidence.headers[.xContentTypeOptions] == "nosniff")
        #expect(evidence.headers[try #require(HTTPField.Name("Assay-Evidence"))] == "whole")
        let record = try await world.send(.get, "/v1/submissions/\(answer.submissionID)", as: .backend)
            .message(SubmissionMessage.self)
        #expect(record.leafHash == answer.leafHash && record.evidenceKept == "whole")
        #expect(record.evidenceSize == claim.receiptData.map { Int64($0.utf8.count) })
        for part in ["", "/evidence"] {
            let refused = try await world.send(.get, "/v1/submissions/\(answer.submissionID)\(part)", as: .client)
            #expect(try refused.status == 403 && refused.problem == "scope_insufficient")
        }
        let empty = try await world.send(.post, "/v1/purchases", data: Data("{}".utf8), as: .client)
        let id = try #require(try empty.document?.submissionID)
        let none = try await world.send(.get, "/v1/submissions/\(id)/evidence", as: .backend)
        #expect(try none.line == "404 evidence_unknown")
        let unknown = try await world.send(.get, "/v1/submissions/\(UUID())/evidence", as: .backend)
        #expect(try unknown.problem == "submission_unknown")
    }

    @Test("Entitlements can be queried for an environment and a time, and a named entitlement covers its products")
    func entitlementQuestions() async throws {
        for (transaction, product) in [("2000000000000002", "pro"), ("2000000000000004", "monthly")] {
            let claim = try PurchaseServerWorld.purchase(transaction, product: "com.example.app.\(product)")
            #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
        }
        func list(_ query: String) async throws -> EntitlementList {
            try await world.send(.get, "/v1/customers/alice/entitlements?\(query)", as: .backend)
                .message(EntitlementList.self)
        }
        let now = try await list("")
        #expect(now.entitlements.allSatisfy { $0.state == .active && $0.environment == .sandbox })
        #expect(now.named.map(\.name) == ["pro"] && now.named.first?.state == .active)
        #expect(now.named.first?.products.count == 2 && now.named.first?.until == nil)
        #expect(try await list("environment=Production").entitlements.isEmpty)
        #expect(try await list("environment=sandbox").entitlements.count == now.entitlements.count)
        let later = try await list("at=2023-12-31T00:00:00Z")
        #expect(later.at?.hasPrefix("2023-12-31") == true)
        let monthly = later.entitlements.first { $0.productID == "com.example.app.monthly" }
        #expect(monthly?.state == .expired && monthly?.reason == .newsMissing)
        let before = try await list("at=2023-11-01T00:00:00Z")
        #expect(before.entitlements.allSatisfy { $0.state != .active })
        for query in ["at=yesterday", "environment="] {
            let path = "/v1/customers/alice/entitlements?\(query)"
            #expect(try await world.send(.get, path, as: .backend).status == 400, "\(query)")
        }
    }

    @Test("Entitlements have an ETag; a matching If-None-Match gets 304 without a body")
    func entityTag() async throws {
        _ = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase())
        let path = "/v1/customers/alice/entitlements"
        let first = try await world.send(.get, path, as: .backend)
        let tag = try #require(first.headers[.eTag])
        let second = try await world.send(.get, path, as: .backend, headers: [.ifNoneMatch: tag])
        #expect(second.status == 304 && second.text.isEmpty)
        _ = try await world.send(
            .post, "/v1/customers/alice/consume", PurchaseServerWorld.consumption("1"), as: .backend)
        let third = try await world.send(.get, path, as: .backend, headers: [.ifNoneMatch: tag])
        #expect(third.status == 200 && third.headers[.eTag] != tag)
        let entitlement = try #require(
            try third.message(EntitlementList.self).entitlements.first { $0.productType == .consumable })
        #expect(entitlement.balance == 2 && entitlement.state == .active && entitlement.reason == nil)
    }

    @Test("Customers with canonically equivalent names are two, and a purchase is granted to one of them")
    func equivalentNames() async throws {
        let (composed, decomposed) = ("jos\u{E9}", "jose\u{301}")
        let first = try await world.send(
            .post, "/v1/purchases", try PurchaseServerWorld.purchase(customerID: composed), as: .client)
        #expect(first.status == 200)
        let second = try await world.send(
            .post, "/v1/purchases", try PurchaseServerWorld.purchase(customerID: decomposed),
            as: .client)
        #expect(try second.problem == "already_claimed")
        #expect(try await world.entitlements(of: "jose%CC%81").isEmpty)
    }

    @Test("A name in a path is compared by all of its bytes: with a byte order mark it is another customer")
    func pathNames() async throws {
        _ = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase(), as: .client)
        for (name, count) in [("alice", 1), ("al%69ce", 1), ("%EF%BB%BFalice", 0), ("alice%EF%BB%BF", 0)] {
            #expect(try await world.entitlements(of: name).isEmpty == (count == 0), "\(name)")
        }
        for name in ["%", "%4", "%zz", "%FF", "%00", "%20"] {
            let refused = try await world.send(.get, "/v1/customers/\(name)/entitlements", as: .backend)
            #expect(refused.status == 400, "\(name)")
        }
        let answer = try await world.send(
            .post, "/v1/customers/%EF%BB%BFalice/consume", PurchaseServerWorld.consumption("1"), as: .backend)
        #expect(try answer.problem == "balance_insufficient")
    }

    @Test("A purchase is found under its transaction though the app no longer takes its environment")
    func formerEnvironment() async throws {
        _ = try await world.send(.post, "/v1/purchases", try PurchaseServerWorld.purchase(), as: .client)
        var app = PurchaseServerWorld.app
        app.environments = [.production]
        let clock = world.clock
        let production = try await PurchaseLedger.open(
            database: world.database, verifier: PurchaseVerifier(anchors: []), apps: [app], clock: { clock.now },
            entryKey: world.entryKey)
        let found = try await production.answer(
            PurchasesOfTransaction(app: "example", transactionID: "2000000000000001"))
        #expect(found.map(\.environment) == [.sandbox])
    }
}
