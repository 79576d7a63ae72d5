import AppStoreConnection
import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

/// Every fault of the simulated store, over real HTTP and TLS, in each mode of an app: the answer to a claim, and the
/// rows that the ledger stores.
@Suite("Claims and the faults of the store", .serialized)
struct ClaimFaultTests {
    /// The answer to a claim in the mode `apple` while the store has a fault.
    private static func answer(to row: FaultTableTests.Row) -> (status: Int, code: String) {
        switch row.outcome {
        case "0 Production":
            let isAltered = ["edited", "another-receipt"].contains { row.fault.contains($0) }
            return isAltered ? (422, "app_store_contradicts") : (200, "accepted")
        case "21003 Production", "21010 Production": return (422, "app_store_refused")
        case "21004 Production": return (422, "app_store_secret_mismatch")
        // For an app receipt there is no 21006, and 21007 after the switch makes no sense.
        case "21006 Production", "21007 Sandbox": return (422, "app_store_contradicts")
        default: return (503, "app_store_pending")
        }
    }

    private static let rows =
        FaultTableTests.rows + [
            FaultTableTests.Row(#""kind":"edited","edit":"product""#, "0 Production", 1),
            FaultTableTests.Row(#""kind":"edited","edit":"bundle""#, "0 Production", 1),
            FaultTableTests.Row(#""kind":"edited","edit":"environment""#, "0 Production", 1),
            FaultTableTests.Row(#""kind":"edited","edit":"empty""#, "0 Production", 1),
            FaultTableTests.Row(#""kind":"edited","edit":"transaction""#, "0 Production", 1),
            FaultTableTests.Row(#""kind":"huge-body""#, "app_store_too_large", 4),
        ]

    @Test(
        "Each fault in each mode: accepted, rejected or undetermined, no purchase lost, none granted twice",
        arguments: AppStoreMode.allCases)
    func table(_ mode: AppStoreMode) async throws {
        try await AppStoreClaimWorld.run(mode) { world in
            _ = try await world.store.buy(by: "grace")
            for (number, row) in Self.rows.enumerated() {
                let bought = try await world.store.buy()
                try await world.store.post("faults/answers", try row.body)
                let answer = try await world.claim(bought)
                let expected = mode == .apple ? Self.answer(to: row) : (status: 200, code: "accepted")
                #expect(
                    answer.status == expected.status && answer.code == expected.code, "\(mode) \(row.fault): \(answer)")
                if answer.status == 503 {
                    #expect(
                        answer.verdict == "undetermined" && answer.disposition == "retry" && answer.retryAfter != nil)
                }
                if mode != .offline {
                    // While the fault lasts, asking again gives the same result.
                    let again = try await world.claim(bought)
                    #expect(again.status == expected.status, "\(mode) \(row.fault): \(again)")
                    if answer.status == 503 { #expect(again.submission == answer.submission) }
                }
                try await world.end(row)
                let last = try await world.claim(bought)
                #expect(last.status == 200, "\(mode) \(row.fault): \(last)")
                #expect(try await world.granted() == number + 1, "\(mode) \(row.fault)")
                #expect(try await world.balance() == Int64(number + 1), "\(mode) \(row.fault)")
            }
        }
    }

    @Test("A store with a wrong certificate gets no receipt, and the claims wait")
    func certificates() async throws {
        try await AppStoreClaimWorld.run(.apple) { world in
            for (number, fault) in ["wrong-host", "expired", "unknown-issuer"].enumerated() {
                let bought = try await world.store.buy()
                try await world.store.post("faults/certificates", ["fault": fault, "count": 100])
                try await world.store.post("faults/answers", ["kind": "latency", "milliseconds": 0, "count": 100])
                let answer = try await world.claim(bought)
                #expect(number > 0 || answer.status == 503, "\(fault): \(answer)")
                _ = try await world.store.call("faults", .delete)
                try await world.nextQuestion()
                #expect(try await world.claim(bought).status == 200)
            }
        }
    }

    @Test(
        "500 equal claims in the three modes end in the same verdicts, with one grant", arguments: AppStoreMode.allCases
    )
    func equalClaims(_ mode: AppStoreMode) async throws {
        try await AppStoreClaimWorld.run(mode) { world in
            let bought = try await world.store.buy()
            try await world.store.post("faults/answers", ["kind": "latency", "milliseconds": 300, "count": 1000])
            let answers = try await withThrowingTaskGroup(of: AppStoreClaimWorld.Answer.self) { group in
                var answers: [AppStoreClaimWorld.Answer] = []
                for number in 0..<500 {
                    if number >= 50, let answer = try await group.next() { answers.append(answer) }
                    group.addTask { try await world.claim(bought) }
                }
                for try await answer in group { answers.append(answer) }
                return answers
            }
            #expect(answers.count == 500)
            #expect(Set(answers.map(\.code)) == ["accepted"])
            #expect(answers.count { !$0.isReplayed } == 1)
            try await world.settle()
            #expect(try await world.granted() == 1)
            #expect(try await world.balance() == 1)
            let asked = 1000 - (try await world.store.faultsLeft())
            #expect(asked == (mode == .offline ? 0 : 1), "\(mode): Apple was asked \(asked) times")
        }
    }

    @Test("C.14 Equal claims that waited and are refused only for their order say that the customer has the purchase")
    func refusedOrder() async throws {
        try await AppStoreClaimWorld.run(.apple) { world in
            let order = try await world.ledger.perform(
                CreateOrder(app: "game", OrderDraft(customerID: "ada", productID: "coins", quantity: 1))
            ).order.id
            _ = try await world.ledger.perform(CancelOrder(app: "game", orderID: order))
            let bought = try await world.store.buy()
            try await world.store.post("faults/answers", ["kind": "latency", "milliseconds": 500, "count": 20])
            let answers = try await withThrowingTaskGroup(of: AppStoreClaimWorld.Answer.self) { group in
                for _ in 0..<16 { group.addTask { try await world.claim(bought, order: order) } }
                var answers: [AppStoreClaimWorld.Answer] = []
                for try await answer in group { answers.append(answer) }
                return answers
            }
            #expect(Set(answers.map(\.code)) == ["order_cancelled"])
            #expect(answers.allSatisfy { $0.disposition == "granted" }, "\(answers.map(\.disposition))")
            #expect(answers.count { !$0.isReplayed } == 1)
            #expect(try await world.balance() == 1)
            let again = try await world.claim(bought, order: order)
            #expect(again.code == "order_cancelled" && again.disposition == "granted" && again.isReplayed)
        }
    }

    @Test(
        "A refund that Apple knows of: not granted in the mode apple, withdrawn in the mode both",
        arguments: [AppStoreMode.apple, .both])
    func refunded(_ mode: AppStoreMode) async throws {
        try await AppStoreClaimWorld.run(mode) { world in
            // Replies to app receipts list refunds of subscriptions only (`latest_receipt_info`).
            let bought = try await world.store.buy("gold")
            try await world.store.post("transactions/\(bought.transaction)/refund", ["reason": 1])
            let answer = try await world.claim(bought, product: "gold")
            #expect(answer.status == (mode == .apple ? 422 : 200), "\(answer)")
            try await world.settle()
            let refused = try await world.claim(bought, product: "gold")
            #expect(refused.status == 422 && refused.disposition == "refused", "\(refused)")
            let query = EntitlementsOfCustomer(app: "game", customerID: "ada", environment: nil, at: nil)
            #expect(try await world.ledger.answer(query).entitlements.allSatisfy { $0.state != .active })
            let page = try await world.get("/v1/submissions?limit=10")
            #expect(page.contains(#""app_store_answer_id""#), "\(page)")
        }
    }
}

extension ClaimFaultTests {
    @Test("An upgrade that Apple knows of is told as an upgrade", arguments: [AppStoreMode.apple, .both])
    func upgraded(_ mode: AppStoreMode) async throws {
        try await AppStoreClaimWorld.run(
            mode,
            { configuration, _ in
                configuration.apps["game"]?.products["silver"] = RegisteredProduct(kind: .autoRenewable)
            }
        ) { world in
            try await world.store.post(
                "products",
                [
                    "bundle_id": ConnectionWorld.app, "product_id": "silver", "kind": "auto-renewable", "price": 990,
                    "subscription": ["group_id": "club", "period": "P1M", "level": 2],
                ])
            let bought = try await world.store.buy("silver")
            try await world.store.post(
                "subscriptions/\(bought.transaction)/change-product", ["product_id": "gold"])
            let answer = try await world.claim(bought, product: "silver")
            #expect(answer.code == (mode == .apple ? "purchase_upgraded" : "accepted"), "\(answer)")
            try await world.settle()
            let query = EntitlementsOfCustomer(app: "game", customerID: "ada", environment: nil, at: nil)
            let states = try await world.ledger.answer(query).entitlements.map { "\($0.productID) \($0.state)" }
            #expect(states.sorted() == ["gold active", "silver upgraded"])
            let told = try await world.ledger.answer(EventList(app: "game", limit: 100)).map(\.type)
            #expect(!told.contains("revoked") && !told.contains("reversed"), "\(told)")
        }
    }

    @Test("The flag, the later period and both decide in a reply whether a cancellation is an upgrade")
    func upgradeInReply() throws {
        let anchors = try TrustAnchor.certificates(of: ConnectionWorld.authority.get())
        let moment = MintedWorld.moment
        let purchase = PurchaseTemplate.subscription(
            productID: "silver", transactionID: "1", originalTransactionID: "1", purchaseDate: moment,
            originalPurchaseDate: moment, expiresDate: moment.addingTimeInterval(2_592_000))
        let receipt = try AppReceiptEncoder(authority: ConnectionWorld.authority.get().receipts).encode(
            .production(bundleID: ConnectionWorld.app, creationDate: moment, purchases: [purchase]))
        let evidence = try PurchaseVerifier(anchors: anchors).verify(receipt, policies: [])
        guard case .appReceipt(let verified) = evidence else {
            Issue.record("no receipt")
            return
        }
        let at = Int64(moment.timeIntervalSince1970) * 1000 + 864_000_000
        let key = TransactionKey(environment: .production, transactionID: "1")
        for (flag, product, shift, isUpgrade) in [
            (true, nil, 0, true), (false, "gold", 30_000, true), (true, "gold", 0, true), (false, nil, 0, false),
            (false, "silver", 0, false), (false, "gold", 120_000, false),
        ] as [(Bool, String?, Int64, Bool)] {
            var response = VerifyReceiptResponse(status: .valid)
            response.receipt = VerifyReceiptResponse.Receipt(verified, requestDate: nil)
            var cancelled = try #require(response.receipt?.inApp.first)
            cancelled.cancellationDate = AppleDate(millisecondsSince1970: at)
            cancelled.isUpgraded = flag
            response.latestReceiptInfo = [cancelled]
            if let product {
                var later = VerifyReceiptResponse.InAppPurchase(productID: product, transactionID: "2")
                later.originalTransactionID = "1"
                later.purchaseDate = AppleDate(millisecondsSince1970: at + shift)
                later.expiresDate = AppleDate(millisecondsSince1970: at + 2_592_000_000)
                response.latestReceiptInfo?.append(later)
            }
            let reply = AppStoreReply(environment: .production, json: [], response: response)
            let expected = AppStoreAnswer.Cancellation(
                key, at: Timestamp(millisecondsSince1970: at), isUpgrade: isUpgrade)
            #expect(AppStoreAnswer(reply, evidence).cancellations == [expected], "\(flag) \(product ?? "nothing")")
        }
    }
}

extension AppStoreClaimWorld {
    /// Ends a fault, and makes all waiting claims due.
    fileprivate func end(_ row: FaultTableTests.Row) async throws {
        _ = try await store.call("faults", .delete)
        try await nextQuestion()
    }

    /// Moves the clocks beyond every pause, and waits until all questions were asked.
    fileprivate func nextQuestion() async throws {
        // Failures of one row must not open the circuit for the next row.
        connectionClock.advance(.seconds(60))
        clock.advance(seconds: 700)
        try await settle()
        // Apple's answer about a receipt is reused for a while.
        clock.advance(seconds: AppStoreClaim.answerLasts / 1000)
    }
}
