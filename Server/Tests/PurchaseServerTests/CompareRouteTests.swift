import EvidenceMint
import Foundation
import HTTPTypes
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

/// `POST /v1/compare` (docs/compare.md).
@Suite("Comparing over HTTP", .server)
struct CompareRouteTests {
    let world: PurchaseServerWorld = CurrentWorld.opened()

    private static let bulk: HTTPFields = [.contentType: "application/x-ndjson"]

    /// A customer with a refunded subscription, and one with a subscription until a time.
    private static func prepare(_ world: PurchaseServerWorld) async throws -> String {
        func period(_ id: String, _ change: (inout SignedTransactionTemplate) -> Void) throws
            -> PurchaseServerWorld.SignedPurchase
        {
            try PurchaseServerWorld.signed(id, product: "com.example.app.monthly") {
                $0.type = .autoRenewableSubscription
                $0.expiresDate = MintedWorld.moment.addingTimeInterval(30 * 86_400)
                change(&$0)
            }
        }
        for (id, customer) in [("1", "alice"), ("2", "bob")] {
            let claimed = try await world.send(
                .post, "/v1/purchases", try period(id) { _ in }.claim(customerID: customer))
            #expect(claimed.status == 200, "\(claimed.text)")
        }
        let refunded = try period("1") { $0.refund(at: MintedWorld.moment.addingTimeInterval(60)) }
        _ = try await world.ledger.observe(
            EvidenceSubmission(app: "example", source: "notification", evidence: Array(refunded.jws.utf8)))
        return "\(Timestamp(MintedWorld.moment.addingTimeInterval(30 * 86_400)))"
    }

    @Test("28.3 One answer is compared, with its cause, rule, evidence and sentence")
    func single() async throws {
        let end = try await Self.prepare(world)
        var theirs = ComparisonRequest(customerID: "alice", entitlement: "pro", active: true)
        theirs.until = end
        let answer = try await world.send(.post, "/v1/compare", theirs, as: .backend)
        #expect(answer.status == 200, "\(answer.text)")
        let found = try answer.message(ComparisonMessage.self)
        #expect(!found.agrees && found.code == "refund_missed" && found.right == "ours" && found.rule == "state_4")
        #expect(found.text?.hasPrefix("Assay is right: the App Store withdrew transaction 1") == true)
        #expect(found.theirs == ComparisonMessage.Access(active: true, until: end))
        #expect(found.ours.state == "withdrawn" && found.ours.reason == "revoked" && !found.ours.active)
        let evidence = try #require(found.evidence?.first)
        #expect(evidence.transactionID == "1" && evidence.productID == "com.example.app.monthly")
        #expect(evidence.entryIDs.count == 2)
        theirs.customerID = "bob"
        let agreed = try await world.send(.post, "/v1/compare", theirs, as: .backend).message(ComparisonMessage.self)
        #expect(agreed.agrees && agreed.code == nil && agreed.evidence == nil && agreed.ours.active)
    }

    @Test(
        "28.3 Answers that cannot be read are refused by the member",
        arguments: [
            (#"{"product_id":"a","active":true}"#, "field_missing"),
            (#"{"customer_id":"a","active":true}"#, "field_missing"),
            (#"{"customer_id":"a","product_id":"b"}"#, "field_missing"),
            (#"{"customer_id":"a","product_id":"b","entitlement":"c","active":true}"#, "field_malformed"),
            (#"{"customer_id":"a","product_id":"b","active":"yes"}"#, "field_malformed"),
            (#"{"customer_id":"a","product_id":"b","until":"tomorrow"}"#, "field_malformed"),
            (#"{"customer_id":"a","product_id":"b","until":null}"#, "field_missing"),
            (#"{"customer_id":"a","product_id":"b","active":true,"until":null}"#, "field_malformed"),
            (#"{"customer_id":"a","product_id":"b","active":true,"as_of":"1"}"#, "field_malformed"),
            (#"{"customer_id":"a","product_id":"b","active":true,"environment":"Mars"}"#, "field_malformed"),
            (#"{"customer_id":"a","product_id":"b","active":true,"expires":"x"}"#, "field_unknown"),
            ("[]", "body_malformed"), ("{", "body_malformed"),
        ])
    func flaws(_ body: String, _ code: String) async throws {
        let answer = try await world.send(.post, "/v1/compare", data: Data(body.utf8), as: .backend)
        #expect(try answer.status == 400 && answer.problem == code, "\(answer.text)")
        let line = try await world.send(
            .post, "/v1/compare", data: Data("\n\(body)\n".utf8), as: .backend, headers: Self.bulk)
        #expect(line.status == 200 && line.text.contains(#"{"line":2,"problem":{"code":"\#(code)""#), "\(line.text)")
        #expect(line.text.hasSuffix(#""compared":0,"differed":0,"invalid":1}}"# + "\n"))
    }

    @Test("28.3 A bulk comparison answers with the differences in order, and a summary; the key needs its scope")
    func bulk() async throws {
        let end = try await Self.prepare(world)
        var lines: [String] = []
        for number in 0..<300 {
            let customer = number % 100 == 7 ? "alice" : number % 100 == 8 ? "ghost" : "bob"
            lines.append(#"{"customer_id":"\#(customer)","entitlement":"pro","until":"\#(end)"}"#)
        }
        lines[50] = ""
        lines[60] = String(repeating: "x", count: 20_000)
        let data = Data(lines.joined(separator: "\n").utf8)
        let answer = try await world.send(.post, "/v1/compare", data: data, as: .backend, headers: Self.bulk)
        #expect(answer.status == 200 && answer.headers[.contentType] == "application/x-ndjson")
        let answered = answer.text.split(separator: "\n")
        #expect(answered.count == 8)
        let decoder = JSONDecoder()
        let found = try answered.dropLast().filter { !$0.contains("line_too_long") }.map {
            try decoder.decode(ComparisonMessage.self, from: Data($0.utf8))
        }
        #expect(found.map(\.line) == [8, 9, 108, 109, 208, 209])
        #expect(Set(found.map(\.code)) == ["refund_missed", "customer_unknown"])
        let summary = try decoder.decode(ComparisonSummary.self, from: Data(try #require(answered.last).utf8))
            .summary
        #expect(summary.compared == 298 && summary.agreed == 292 && summary.differed == 6 && summary.invalid == 1)
        #expect(summary.causes == ["refund_missed": 3, "customer_unknown": 3])
        for scope in [APIKeyScope?.none, .client] {
            let refused = try await world.send(.post, "/v1/compare", data: data, as: scope, headers: Self.bulk)
            #expect(refused.status == (scope == nil ? 401 : 403))
        }
    }

    @Test("28.3 Lines are the same however the bytes arrive, and a long one takes no memory")
    func lines() {
        let text = Array("one\n\n  \ntwo\r\n\(String(repeating: "x", count: BoundedLines.limit + 1))\nthree\nfour".utf8)
        func read(_ parts: [ArraySlice<UInt8>]) -> [String] {
            var lines = BoundedLines()
            var found = parts.flatMap { lines.append($0) }
            if let last = lines.end() { found.append(last) }
            return found.map { "\($0.number) \($0.bytes.map { String(decoding: $0, as: UTF8.self) } ?? "too long")" }
        }
        let expected = ["1 one", "4 two\r", "5 too long", "6 three", "7 four"]
        #expect(read([text[...]]) == expected)
        #expect(read(text.indices.map { text[$0...$0] }) == expected)
        for cut in text.indices where cut < 20 || cut > BoundedLines.limit {
            #expect(read([text[..<cut], text[cut...]]) == expected)
        }
    }

    @Test("28.3 docs/compare.md has every cause with who is right, and every rule")
    func documentation() throws {
        let url = Corpus.projectFolder.appendingPathComponent("docs/compare.md")
        let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
        for cause in ComparisonCause.allCases {
            let rows = lines.filter { $0.hasPrefix("| `\(cause.rawValue)` |") }
            #expect(rows.count == 1 && rows[0].hasPrefix("| `\(cause.rawValue)` | `\(cause.right.rawValue)` |"))
        }
        let rules: [ComparisonRule] =
            ProductKind.allCases.filter { $0 != .autoRenewable }.map { .kind($0) }
            + [.superseded, .byHand, .sandboxAccess, .settings, .nothingRecorded, .state(row: 12), .own(step: 6)]
        for rule in rules { #expect(lines.contains { $0.hasPrefix("| `") && $0.contains("`\(rule)`") }, "\(rule)") }
    }
}
