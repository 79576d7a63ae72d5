import AppStoreConnection
import Foundation
import HTTPTypes
import NIOCore
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import ServerTestSupport
import Testing

/// External purchase tokens: notifications and a backend state them, and the simulated store is told of each, over real
/// HTTP.
@Suite("External purchase tokens beside the store's truth")
struct ExternalPurchaseTests {
    @Test("A month of tokens: the store has each token once, with every sale, renewal, refund and correction")
    func month() async throws {
        try await Desk.run { desk in
            var random = Seeded(seed: 54)
            var expected: [String: Told] = [:]
            for day in 0..<10 {
                for part in 0..<3 {
                    let id = "2924c319-5205-4188-831a-\(String(100_000_000_000 + day * 3 + part))"
                    let (isStated, isNotified) = (random.next(4) > 0, random.next(2) > 0)
                    if isStated { _ = try await desk.state(id) }
                    if isNotified || !isStated { try await desk.notify("UNREPORTED", of: id) }
                    var told = Told(status: isStated ? "NO_LINE_ITEM" : "UNRECOGNIZED_TOKEN")
                    if isStated, random.next(3) > 0 {
                        let sale = Item(id: "\(id)-sale", amount: 1_000 * (1 + random.next(9)))
                        var items = [random.next(2) > 0 ? sale.once : sale.start]
                        if random.next(2) > 0 { items.append(Item(id: "\(id)-back", amount: 500).refund(of: sale.id)) }
                        _ = try await desk.items(items, of: id)
                        told = Told(status: "LINE_ITEM", items: Set(items.compactMap { $0["lineItemId"] as? String }))
                        if random.next(3) == 0 {
                            _ = try await desk.settled(id)
                            var corrected = items[0]
                            corrected["netAmountTaxExclusive"] = 0
                            corrected["restatement"] = true
                            _ = try await desk.items([corrected], of: id)
                            told.corrected = sale.id
                        }
                    }
                    expected[id] = told
                }
                try await desk.control("clock", ["advance": "P3D"])
            }
            try await desk.control("clock", ["advance": "P15D"])
            for (id, told) in expected {
                let settled = try await desk.settled(id)
                #expect(settled.state == "reported" && settled.status == told.status, "\(settled)")
                #expect(settled.lineItems?.allSatisfy(\.reported) == true, "\(settled)")
            }
            let reports = try await desk.reports()
            for (id, told) in expected {
                let own = reports.filter { $0["externalPurchaseId"] as? String == id }
                let items = own.flatMap { $0["lineItems"] as? [[String: Any]] ?? [] }
                let first = items.filter { $0["restatement"] == nil }.compactMap { $0["lineItemId"] as? String }
                #expect(Set(first) == told.items && first.count == told.items.count, "\(id): each once")
                let again = items.filter { $0["restatement"] != nil }.compactMap { $0["lineItemId"] as? String }
                #expect(again == [told.corrected].compactMap(\.self), "\(id)")
                #expect(own.count == 1 || told.status == "LINE_ITEM", "\(id): a token without items is told once")
            }
        }
    }

    @Test(
        "A report whose answer was lost, or that could not be sent, is at the store once",
        arguments: ["reset", "closed-body", "outage", "broken-json", "retryable"])
    func interrupted(fault: String) async throws {
        try await Desk.run { desk in
            try await desk.control(
                "faults/server-api", ["kind": fault, "operation": "send-external-report"])
            _ = try await desk.state("token-1")
            _ = try await desk.items([Item(id: "a", amount: 8_000).once], of: "token-1")
            // The next attempt is by the store's clock.
            try await desk.wait {
                try await desk.control("clock", ["advance": "P1D"])
                return try await desk.settled("token-1", ["due", "reported"]).state == "reported"
            }
            let settled = try await desk.settled("token-1", ["reported"])
            #expect(settled.status == "LINE_ITEM")
            let reports = try await desk.reports()
            #expect(reports.count == 1 && reports.first?["requestIdentifier"] as? String == settled.requestID)
        }
    }

    @Test("A report that cannot be sent for two days is late, once, and is sent when the store answers again")
    func late() async throws {
        try await Desk.run { desk in
            for operation in ["send-external-report", "external-report"] {
                try await desk.control(
                    "faults/server-api",
                    ["kind": "outage", "operation": operation, "count": 100_000, "until": "2026-06-01T12:00:00Z"])
            }
            _ = try await desk.state("token-1")
            _ = try await desk.items([Item(id: "a", amount: 8_000).once], of: "token-1")
            try await desk.wait {
                try await desk.control("clock", ["advance_seconds": 3600])
                return try await !desk.events("external_purchase_token_overdue").isEmpty
            }
            #expect(try await desk.settled("token-1", ["due"]).status == nil)
            try await desk.control("clock", ["advance": "P6M"])
            #expect(try await desk.settled("token-1", ["reported"]).status == "LINE_ITEM")
            #expect(try await desk.events("external_purchase_token_overdue").count == 1)
            #expect(try await desk.reports().count == 1)
        }
    }

    @Test("Without a key of the store both events come, each once, and nothing is sent")
    func keyless() async throws {
        try await Desk.run(hasKey: false) { desk in
            try await desk.notify("UNREPORTED", of: "token-1")
            try await desk.wait { try await desk.events("external_purchase_token_due").count == 1 }
            for id in ["token-1", "token-2"] {
                _ = try await desk.state(id)
                _ = try await desk.items([Item(id: "of-\(id)", amount: 8_000).once], of: id)
            }
            try await desk.wait {
                try await desk.control("clock", ["advance_seconds": 3600])
                return try await desk.events("external_purchase_token_overdue").count == 2
            }
            try await desk.control("clock", ["advance": "P9D"])
            #expect(try await desk.settled("token-1", ["due"]).status == nil)
            #expect(try await desk.events("external_purchase_token_overdue").count == 2)
            #expect(try await desk.reports().isEmpty)
        }
    }

    @Test("Thousands of line items are reported in pages, each sale before what refers to it")
    func pages() async throws {
        try await Desk.run { desk in
            try await desk.control(
                "faults/server-api",
                [
                    "kind": "outage", "operation": "send-external-report", "count": 100_000,
                    "until": "2026-03-01T12:00:00Z",
                ])
            _ = try await desk.state("token-1")
            let numbers = 0..<150
            _ = try await desk.items(
                numbers.map { Item(id: "a\($0)", amount: 500).refund(of: "b\($0)") }, of: "token-1")
            let stated = try await desk.items(numbers.map { Item(id: "b\($0)", amount: 900).once }, of: "token-1")
            #expect((stated["line_items"] as? [Any])?.count == 150, "its own items alone")
            try await desk.control("clock", ["advance": "P2M"])
            let settled = try await desk.settled("token-1", ["reported"])
            #expect(settled.lineItems?.count == 300 && settled.lineItems?.allSatisfy(\.reported) == true)
            let sizes = try await desk.reports().map { ($0["lineItems"] as? [Any])?.count ?? 0 }
            #expect(sizes.sorted() == [100, 200])
        }
    }

    @Test("A line item that the store has from elsewhere can be corrected, and one that it does not have can be stated")
    func elsewhere() async throws {
        try await Desk.run { desk in
            for id in ["a", "b"] { try await desk.report(Item(id: id, amount: 1_000).once, of: "token-1") }
            _ = try await desk.state("token-1")
            let first = Item(id: "a", amount: 2_000).once
            _ = try await desk.items([first], of: "token-1")
            #expect(try await desk.settled("token-1", ["refused"]).refusal?.contains("1: ") == true)
            _ = try await desk.items([first], of: "token-1")
            #expect(try await desk.settled("token-1").state == "reported")
            for id in ["b", "c"] {
                let corrected = Item(id: id, amount: 3_000).once.merging(["restatement": true]) { $1 }
                _ = try await desk.items([corrected], of: "token-1")
                let settled = try await desk.settled("token-1")
                #expect(settled.state == (id == "b" ? "reported" : "refused"), "\(settled)")
                // Apple does not have c, so that the same statement is its first.
                if id == "c" { _ = try await desk.items([corrected], of: "token-1") }
            }
            #expect(try await desk.settled("token-1", ["reported"]).lineItems?.allSatisfy(\.reported) == true)
            let sent = try await desk.reports().flatMap { $0["lineItems"] as? [[String: Any]] ?? [] }
                .map { item in
                    let isRestatement = item["restatement"] as? Bool ?? false
                    return "\(item["lineItemId"] ?? "") \(item["amountTaxExclusive"] ?? "") \(isRestatement)"
                }
            #expect(
                sent.sorted() == [
                    "a 1000 false", "a 2000 true", "b 1000 false", "b 3000 true", "c 3000 false",
                ], "\(sent)")
        }
    }

    @Test("A refused report waits for a correction, is late after two days, and is sent again under its identifier")
    func refused() async throws {
        try await Desk.run { desk in
            _ = try await desk.state("token-1")
            _ = try await desk.items([Item(id: "back", amount: 500).refund(of: "nothing")], of: "token-1")
            let refused = try await desk.settled("token-1", ["refused"])
            #expect(refused.refusal?.contains("3: ") == true && refused.refusal?.contains("back") == true, "\(refused)")
            for _ in 0..<3 { try await desk.control("clock", ["advance": "P1D"]) }
            try await desk.wait { try await !desk.events("external_purchase_token_overdue").isEmpty }
            // The same statement again has the report sent again, and Apple refuses it again.
            _ = try await desk.items([Item(id: "back", amount: 500).refund(of: "nothing")], of: "token-1")
            #expect(try await desk.settled("token-1", ["refused"]).requestID == refused.requestID)
            let sale = Item(id: "sale", amount: 1_000).once
            var corrected = Item(id: "back", amount: 500).refund(of: "sale")
            corrected["restatement"] = true
            _ = try await desk.items([sale, corrected], of: "token-1")
            let settled = try await desk.settled("token-1", ["reported"])
            #expect(settled.requestID == refused.requestID && settled.refusal == nil, "\(settled)")
            #expect(refused.reportedAt == nil && settled.reportedAt != nil)
            #expect(try await desk.reports().count == 1)
            #expect(try await desk.events("external_purchase_token_overdue").count == 1)
        }
    }

    @Test("Apple's question is an event, and the token is reported a day later; a token that ends is reported then")
    func asked() async throws {
        try await Desk.run { desk in
            try await desk.notify("CREATED", of: "token-1", expires: "2026-02-10T12:00:00Z")
            let open = try await desk.settled("token-1", ["open"])
            #expect(open.dueAt == "2026-02-10T12:00:00Z" && open.stated == false, "\(open)")
            #expect(try await desk.events("external_purchase_token_due").isEmpty)
            try await desk.notify("ACTIVE_TOKEN_REMINDER", of: "token-1")
            try await desk.wait { try await desk.events("external_purchase_token_due").count == 1 }
            let asked = try #require(try await desk.events("external_purchase_token_due").first)
            #expect(asked["external_purchase_id"] as? String == "token-1")
            #expect(asked["reason"] as? String == "ACTIVE_TOKEN_REMINDER", "\(asked)")
            // It goes on, so nothing is reported before its end.
            #expect(asked["until"] as? String == "2026-02-10T12:00:00Z", "\(asked)")
            try await desk.control("clock", ["advance": "P2D"])
            #expect(try await desk.settled("token-1", ["open"]).status == nil)
            try await desk.control("clock", ["advance": "P8D"])
            #expect(try await desk.settled("token-1", ["reported"]).status == "UNRECOGNIZED_TOKEN")
            // What was reported without line items can get some later, and is not reported as empty again.
            for subtype in ["UNREPORTED", "ACTIVE_TOKEN_REMINDER"] { try await desk.notify(subtype, of: "token-1") }
            // Later, there is something to report again.
            try await desk.wait {
                let page = try await desk.ask(.get, "/v1/notifications?limit=100", nil)
                return (page["notifications"] as? [Any])?.count == 4
            }
            _ = try await desk.items([Item(id: "late", amount: 1_000).once], of: "token-1")
            let settled = try await desk.settled("token-1", ["reported"])
            #expect(settled.status == "LINE_ITEM")
            #expect(try await desk.reports().count == 2)
            #expect(try await desk.events("external_purchase_token_due").count == 1, "Apple has everything")
        }
    }

    @Test("A backend has a day for a token that ended before it was known; what the app reported itself is settled")
    func ended() async throws {
        try await Desk.run { desk in
            let old = Desk.token(of: "token-1", created: 1_764_547_200_000)
            _ = try await desk.ask(.post, "/v1/external-purchases", ["token": old])
            #expect(try await desk.settled("token-1", ["open"]).dueAt == "2026-02-01T12:00:00Z")
            _ = try await desk.items([Item(id: "a", amount: 1_000).once], of: "token-1")
            #expect(try await desk.settled("token-1").status == "LINE_ITEM")
            #expect(try await desk.reports().count == 1)
            try await desk.report(Item(id: "own", amount: 1_000).once, of: "token-2")
            try await desk.notify("CREATED", of: "token-2", expires: "2026-01-10T12:00:00Z")
            try await desk.notify("CREATED", of: "token-3", expires: "2026-01-10T12:00:00Z")
            for id in ["token-2", "token-3"] { try await desk.settled(id, ["open"]) }
            try await desk.control("clock", ["advance": "P2D"])
            #expect(try await desk.settled("token-2", ["reported"]).status == "LINE_ITEM")
            #expect(try await desk.settled("token-3", ["reported"]).status == "UNRECOGNIZED_TOKEN")
            #expect(try await desk.events("external_purchase_token_overdue").isEmpty)
        }
    }

    @Test("A duplicate is reported at once, also after it was reported as unknown, and never after line items")
    func duplicates() async throws {
        try await Desk.run { desk in
            func state(_ id: String, isDuplicate: Bool = true) async throws {
                let token = Desk.token(of: id, type: "SERVICES", ends: 1_772_280_000_000)
                _ = try await desk.ask(.post, "/v1/external-purchases", ["token": token, "duplicate": isDuplicate])
            }
            try await state("token-1")
            #expect(try await desk.settled("token-1").status == "DUPLICATE_TOKEN")
            try await desk.notify("UNREPORTED", of: "token-2")
            try await desk.settled("token-2", ["open"])
            try await desk.control("clock", ["advance": "P1D"])
            #expect(try await desk.settled("token-2").status == "UNRECOGNIZED_TOKEN")
            try await state("token-2")
            try await desk.wait { try await desk.settled("token-2").status == "DUPLICATE_TOKEN" }
            try await state("token-3", isDuplicate: false)
            _ = try await desk.items([Item(id: "a", amount: 1_000).once], of: "token-3")
            #expect(try await desk.settled("token-3").status == "LINE_ITEM")
            try await state("token-3")
            try await desk.control("clock", ["advance": "P60D"])
            #expect(try await desk.settled("token-3").status == "LINE_ITEM")
            #expect(try await desk.reports().count == 4)
            for type in [nil, "LINK_OUT", "IN_APP"] {
                let token = Desk.token(of: "token-4", type: type)
                let text = try await desk.refusal("/v1/external-purchases", ["token": token, "duplicate": true])
                #expect(text.contains("\"field_malformed\"") && text.contains("ACQUISITION"), "\(text)")
            }
        }
    }

    @Test("A duplicate that is found without a key is reported once there is one; a mistake waits for the end again")
    func adopted() async throws {
        try await Desk.run(hasKey: false) { desk in
            let ledger = try #require(desk.ledger)
            func state(_ id: String, isDuplicate: Bool) async throws {
                let token = Desk.token(of: id, type: "SERVICES", ends: 1_772_280_000_000)
                _ = try await desk.ask(.post, "/v1/external-purchases", ["token": token, "duplicate": isDuplicate])
            }
            try await state("token-1", isDuplicate: false)
            try await ledger.perform(
                RecordExternalReport(app: "example", id: "token-1", .accepted(requestID: "r", .noLineItem, [])))
            try await state("token-1", isDuplicate: true)
            try await desk.wait {
                try await desk.control("clock", ["advance_seconds": 3600])
                return try await !desk.events("external_purchase_token_overdue").isEmpty
            }
            #expect(try await ledger.perform(Adopted(id: "token-1")) != nil)
            try await state("token-2", isDuplicate: true)
            try await state("token-2", isDuplicate: false)
            #expect(try await desk.settled("token-2", ["open"]).dueAt == "2026-02-28T12:00:00Z")
        }
    }

    @Test(
        "A renewal names its start, an amount in another currency its rate, and what was withdrawn is told or never was"
    )
    func withdrawn() async throws {
        try await Desk.run { desk in
            _ = try await desk.state("token-1")
            func said(_ item: [String: Any], _ more: [String: Any]) -> [String: Any] { item.merging(more) { $1 } }
            let withdrawal: [String: Any] = ["restatement": true, "erroneouslySubmitted": true]
            let start = Item(id: "start", amount: 5_000).start
            let renewal = said(
                Item(id: "renewal", amount: 5_000).start,
                ["subscriptionEvent": "RENEWAL", "referenceLineItemId": "start", "subscriptionDaysOfPaidService": 28])
            let dollars = said(
                Item(id: "dollars", amount: 900).once, ["pricingCurrency": "USD", "exchangeRate": 0.92])
            let refund = Item(id: "refund", amount: 500).refund(of: "start")
            _ = try await desk.items([refund, renewal, dollars, start], of: "token-1")
            #expect(try await desk.settled("token-1").status == "LINE_ITEM")
            // What refers to a sale is withdrawn before the sale.
            _ = try await desk.items([start, renewal, refund].map { said($0, withdrawal) }, of: "token-1")
            #expect(try await desk.settled("token-1").lineItems?.allSatisfy(\.reported) == true)
            _ = try await desk.items([said(start, ["restatement": true])], of: "token-1")
            #expect(try await desk.settled("token-1").lineItems?.allSatisfy(\.reported) == true)
            let reports = try await desk.reports().compactMap { $0["lineItems"] as? [[String: Any]] }
            let orders = reports.map { $0.compactMap { $0["lineItemId"] as? String } }
            #expect(
                Set(orders) == [["dollars", "start", "renewal", "refund"], ["refund", "renewal", "start"], ["start"]])
            let sent = reports.flatMap(\.self)
            #expect(sent.first { $0["lineItemId"] as? String == "dollars" }?["exchangeRate"] as? Double == 0.92)
            #expect(
                sent.first { $0["lineItemId"] as? String == "renewal" }?["referenceLineItemId"] as? String == "start")
            #expect(sent.count { $0["erroneouslySubmitted"] as? Bool == true } == 3)
        }
    }

    @Test("Apple's question about a token that nobody knows leaves the backend a day to state what was sold with it")
    func unknown() async throws {
        try await Desk.run { desk in
            try await desk.notify("UNREPORTED", of: "token-1", created: "2026-01-01T12:00:00Z")
            #expect(try await desk.settled("token-1", ["open"]).dueAt == "2026-02-01T12:00:00Z")
            _ = try await desk.items([Item(id: "a", amount: 1_000).once], of: "token-1")
            #expect(try await desk.settled("token-1", ["reported"]).status == "LINE_ITEM")
        }
    }

    @Test("Wrong statements are refused with a code and the facts, and change nothing")
    func wrong() async throws {
        try await Desk.run { desk in
            _ = try await desk.state("token-1")
            _ = try await desk.state("token-2", ["duplicate": false])
            _ = try await desk.items([Item(id: "a", amount: 1_000).once], of: "token-1")
            let same = try await desk.items([Item(id: "a", amount: 1_000).once], of: "token-1")
            #expect(same["state"] as? String != nil)
            func without(_ name: String) -> [String: Any] { Item(id: "x", amount: 1).once.filter { $0.key != name } }
            let rows: [(String, [[String: Any]], String, String)] = [
                ("token-1", [Item(id: "a", amount: 2_000).once], "line_item_conflict", "restatement: true"),
                ("token-2", [Item(id: "a", amount: 1_000).once], "line_item_conflict", "another token"),
                ("token-3", [Item(id: "c", amount: 1).once], "external_purchase_unknown", "token-3"),
                ("token-1", [], "field_malformed", "line_items"),
                ("token-1", [without("taxCountry")], "field_malformed", "taxCountry"),
                (
                    "token-1", [Item(id: "x", amount: 1).once.merging(["taxAmount": 7]) { $1 }], "field_malformed",
                    "amountTaxInclusive"
                ),
            ]
            for (token, items, code, fact) in rows {
                let text = try await desk.refusal("/v1/external-purchases/\(token)/line-items", ["line_items": items])
                #expect(text.contains("\"\(code)\"") && text.contains(fact), "\(text)")
            }
            let others = [
                ("no token", "base64url"), (Desk.token(of: "x", bundleID: "com.other"), "com.example.app"),
                (Desk.token(of: "x", created: .min), "base64url"), (Desk.token(of: "x\u{0}"), "base64url"),
            ]
            for (token, fact) in others {
                let text = try await desk.refusal("/v1/external-purchases", ["token": token])
                #expect(text.contains("\"field_malformed\"") && text.contains(fact), "\(text)")
            }
            #expect(try await desk.settled("token-1", ["reported"]).lineItems?.count == 1)
        }
    }
}

/// When a token is worked on once all work was adopted.
private struct Adopted: LedgerOperation {
    let id: String

    func perform(_ transaction: LedgerTransaction) throws -> Timestamp? {
        try AdoptWork().perform(transaction)
        return try WorkState(.externalPurchase, app: "example", environment: .production, subject: id)
            .answer(transaction)?.nextAt
    }
}

/// What the store is expected to know of a token.
private struct Told {
    let status: String
    var items: Set<String> = []
    /// The line item that was corrected.
    var corrected: String?
}

/// A line item in Apple's form, with a tenth of tax.
private struct Item {
    let id: String
    let amount: Int

    private var common: [String: Any] {
        [
            "lineItemId": id, "creationDate": 1_769_860_800_000, "amountTaxExclusive": amount, "taxAmount": amount / 10,
            "amountTaxInclusive": amount + amount / 10, "netAmountTaxExclusive": amount, "reportingCurrency": "EUR",
            "pricingCurrency": "EUR", "taxCountry": "ESP",
        ]
    }

    var once: [String: Any] {
        common.merging([
            "eventType": "BUY", "productType": "ONE_TIME_BUY", "productIdentifier": "com.example.coins", "quantity": 1,
        ]) { $1 }
    }

    var start: [String: Any] {
        common.merging([
            "eventType": "BUY", "productType": "SUBSCRIPTION", "productIdentifier": "com.example.gold", "quantity": 1,
            "subscriptionEvent": "SUBSCRIPTION_START", "subscriptionStartDate": 1_769_860_800_000,
            "subscriptionEndDate": 1_772_280_000_000, "subscriptionDaysOfPaidService": 0,
        ]) { $1 }
    }

    func refund(of sale: String) -> [String: Any] {
        common.merging(["eventType": "REFUND", "referenceLineItemId": sale]) { $1 }
    }
}

/// Numbers that are the same in each run.
private struct Seeded {
    var seed: UInt64

    mutating func next(_ bound: Int) -> Int {
        seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(seed >> 33) % bound
    }
}

extension Desk {
    fileprivate static func token(
        of id: String, bundleID: String = DeliveredWorld.bundleID, created: Int64 = 1_769_860_800_000,
        type: String? = nil, ends: Int64? = nil
    ) -> String {
        let more =
            (type.map { #","tokenType":"\#($0)""# } ?? "") + (ends.map { #","tokenExpirationDate":\#($0)"# } ?? "")
        let json =
            #"{"bundleId":"\#(bundleID)","externalPurchaseId":"\#(id)","tokenCreationDate":\#(created)\#(more)}"#
        return Data(json.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    fileprivate func state(_ id: String, _ more: [String: Any] = [:]) async throws -> [String: Any] {
        try await ask(.post, "/v1/external-purchases", ["token": Self.token(of: id)].merging(more) { $1 })
    }

    fileprivate func items(_ items: [[String: Any]], of id: String) async throws -> [String: Any] {
        try await ask(.post, "/v1/external-purchases/\(id)/line-items", ["line_items": items])
    }

    /// Reports a line item to the store, without the server.
    fileprivate func report(_ item: [String: Any], of id: String) async throws {
        let address = "http://127.0.0.1:\(store.port)"
        let client = try AppStoreServerClient(
            try AppStoreServerSettings(production: address, sandbox: "\(address)/sandbox"))
        let report: [String: Any] = [
            "requestIdentifier": UUID().uuidString, "externalPurchaseId": id, "status": "LINE_ITEM",
            "lineItems": [item],
        ]
        let body = try JSONSerialization.data(withJSONObject: report)
        _ = try await client.call(
            UnsignedOperation(.sendExternalReport, body: .init(bytes: Array(body), contentType: "application/json")),
            for: AppStoreServerApp("example", bundleID: DeliveredWorld.bundleID, keys: [try await key()]),
            in: .production)
        try await client.shutdown()
    }

    /// The body of a refused request.
    fileprivate func refusal(_ path: String, _ body: [String: Any]) async throws -> String {
        let answer = try await (try #require(server)).execute(
            uri: path, method: .post,
            headers: [.contentType: "application/json", .authorization: "Bearer \(backend)"],
            body: ByteBuffer(bytes: try JSONSerialization.data(withJSONObject: body)))
        #expect(answer.status.code >= 400)
        return String(buffer: answer.body)
    }

    fileprivate func notify(_ subtype: String, of id: String, expires: String? = nil, created: String? = nil)
        async throws
    {
        var body: [String: Any] = [
            "bundle_id": DeliveredWorld.bundleID, "type": "EXTERNAL_PURCHASE_TOKEN", "subtype": subtype,
            "environment": "production", "external_purchase_id": id,
        ]
        (body["token_expiration_date"], body["token_creation_date"]) = (expires, created)
        try await control("notifications", body)
    }

    /// The token, once nothing is on its way.
    @discardableResult
    fileprivate func settled(
        _ id: String, _ states: Set<String> = ["reported", "refused"]
    ) async throws -> ExternalPurchaseMessage {
        var found: ExternalPurchaseMessage?
        try await wait {
            let list = try await ask(.get, "/v1/external-purchases?limit=200", nil)
            let all = list["external_purchases"] as? [[String: Any]] ?? []
            guard all.contains(where: { $0["external_purchase_id"] as? String == id }) else { return false }
            let data = try JSONSerialization.data(
                withJSONObject: try await ask(.get, "/v1/external-purchases/\(id)", nil))
            found = try JSONDecoder().decode(ExternalPurchaseMessage.self, from: data)
            return found.map { states.contains($0.state) } ?? false
        }
        return try #require(found)
    }

    /// The reports that the store accepted in production.
    fileprivate func reports() async throws -> [[String: Any]] {
        let known = try await Self.send(store, .get, "/control/external-reports", nil, nil)
        let reports = known.values.compactMap { ($0 as? [String: Any])?["reports"] as? [String: String] }
        return try reports.flatMap(\.values).compactMap {
            try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
    }

    fileprivate func events(_ type: String) async throws -> [[String: Any]] {
        let page = try await ask(.get, "/v1/events?limit=500", nil)
        return (page["events"] as? [[String: Any]] ?? []).filter { $0["type"] as? String == type }
    }
}
