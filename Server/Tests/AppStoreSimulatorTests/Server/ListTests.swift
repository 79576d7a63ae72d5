import Foundation
import HTTPTypes
import NIOCore
import ServerTestSupport
import Testing

@Suite("Lists of the control API")
struct ListTests {
    private static func ids(_ answer: SimulatorClient.Answer, _ key: String = "transaction_id") throws -> [String] {
        let items = try #require(try answer.object["items"] as? [[String: Any]], "\(answer.text)")
        return items.compactMap { $0[key] as? String }
    }

    @Test("have the newest first, in both environments and beyond any limit, page by page")
    func pages() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            var bought: [String] = []
            for number in 0..<70 {
                let customer = number.isMultiple(of: 3) ? "tester" : "ada"
                bought.append(try await client.buy("coins", by: customer).text("transaction", "transaction_id"))
            }
            var listed: [String] = []
            for offset in stride(from: 0, to: 70, by: 30) {
                let page = try await client.get("/control/lists/transactions?offset=\(offset)&limit=30")
                #expect(try page.object["total"] as? Int == 70)
                listed += try Self.ids(page)
            }
            #expect(listed == bought.reversed())
            let events = try await client.get("/control/lists/events?limit=200").object["items"] as? [[String: Any]]
            let numbers = try #require(events).compactMap { $0["number"] as? Int }
            #expect(numbers == numbers.sorted(by: >) && numbers.count == 70)
        }
    }

    @Test("find rows by a part of a text in any letter case, and by customer")
    func search() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            let coins = try await client.buy("coins").text("transaction", "transaction_id")
            let gold = try await client.buy("gold", by: "tester").text("transaction", "transaction_id")
            #expect(try Self.ids(try await client.get("/control/lists/transactions?search=OLD")) == [gold])
            #expect(
                try Self.ids(try await client.get("/control/lists/transactions?search=\(coins.suffix(6))")) == [coins])
            #expect(try Self.ids(try await client.get("/control/lists/transactions?customer_id=tester")) == [gold])
            #expect(try Self.ids(try await client.get("/control/lists/transactions?customer_id=test")).isEmpty)
            let timeline = try await client.get("/control/lists/events?customer_id=ada")
            #expect(try timeline.object["total"] as? Int == 1 && timeline.text.contains("ada buys"))
            #expect(try Self.ids(try await client.get("/control/lists/customers?search=AD"), "customer_id") == ["ada"])
        }
    }

    @Test(
        "refuse unknown parameters and impossible pages",
        arguments: [
            ("limt=3", "unknown_field", "did you mean 'limit'?"), ("limit=0", "invalid_value", "'limit' is"),
            ("limit=201", "invalid_value", "'limit' is"), ("offset=-1", "invalid_value", "'offset' is"),
        ])
    func refusals(query: String, code: String, words: String) async throws {
        try await SimulatorClient.run { client in
            let answer = try await client.get("/control/lists/events?\(query)")
            #expect(try answer.text("code") == code)
            #expect(try answer.text("detail").contains(words), "\(answer.text)")
        }
    }

    @Test("and the overview answer 304 without a body while nothing changes, and a new revision after a change")
    func entityTags() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            for path in ["/control/overview", "/control/lists/transactions", "/control/lists/products"] {
                let first = try await client.http.execute(uri: path, method: .get)
                let tag = try #require(first.headers[.eTag], "\(path)")
                let again = try await client.http.execute(uri: path, method: .get, headers: [.ifNoneMatch: tag])
                #expect(again.status == .notModified && again.body.readableBytes == 0, "\(path)")
                try await client.buy("coins")
                let changed = try await client.http.execute(uri: path, method: .get, headers: [.ifNoneMatch: tag])
                #expect(changed.status == .ok && changed.headers[.eTag] != tag, "\(path)")
            }
        }
    }

    @Test("do not count time as a change: the revision stays while the clock moves and nothing falls due")
    func revision() async throws {
        try await SimulatorClient.run { client in
            try await client.openShop()
            let before = try await client.get("/control/overview").object["revision"] as? Int
            try await client.post("/control/clock", ["advance": "P1D"])
            #expect(try await client.get("/control/overview").object["revision"] as? Int == before)
            try await client.post("/control/faults/answers", ["kind": "outage"])
            #expect(try await client.get("/control/overview").object["revision"] as? Int != before)
        }
    }
}
