import AppStoreSimulator
import Foundation
import Testing

@Suite("Identifiers of the simulator")
struct IdentifierTests {
    private static func identifiers(_ client: SimulatorClient) async throws -> Set<String> {
        try await client.openShop()
        var ids: Set<String> = []
        for customer in ["ada", "tester"] {
            for product in ["coins", "gold"] {
                ids.insert(try await client.buy(product, by: customer).text("transaction", "transaction_id"))
            }
        }
        try await client.post("/control/clock", ["advance": "P6M"])
        let events = try #require(try await client.get("/control/events").object["events"] as? [[String: Any]])
        for event in events {
            if let transaction = event["transaction"] as? [String: Any] {
                ids.insert(try #require(transaction["transaction_id"] as? String))
                ids.formUnion((transaction["web_order_line_item_id"] as? Int).map { ["line item \($0)"] } ?? [])
            }
            if let notification = event["notification"] as? [String: Any] {
                ids.insert(try #require(notification["notification_uuid"] as? String))
            }
        }
        return ids
    }

    @Test("are never reused by a restart without a file, although the calls are the same")
    func restart() async throws {
        let configuration = SimulatorClient.configuration { $0.firstTransaction = nil }
        let runs = Box<[Set<String>]>()
        for _ in 0..<2 {
            try await SimulatorClient.run(configuration) { client in
                runs.value = (runs.value ?? []) + [try await Self.identifiers(client)]
            }
        }
        let all = try #require(runs.value)
        #expect(all[0].count > 30 && all[0].isDisjoint(with: all[1]), "\(all[0].intersection(all[1]))")
    }

    @Test("are never reused by a reset")
    func reset() async throws {
        try await SimulatorClient.run { client in
            let before = try await Self.identifiers(client)
            try await client.post("/control/reset")
            let after = try await Self.identifiers(client)
            #expect(before.count > 30 && before.isDisjoint(with: after), "\(before.intersection(after))")
        }
    }

    @Test("begin with the chosen number, and keep the form of Apple's")
    func first() async throws {
        for first in [1, AppStore.maximumFirstTransaction] {
            try await SimulatorClient.run(SimulatorClient.configuration { $0.firstTransaction = first }) { client in
                try await client.openShop()
                let production = try await client.buy("coins").text("transaction", "transaction_id")
                let sandbox = try await client.buy("coins", by: "tester").text("transaction", "transaction_id")
                #expect(production == "\(500_000_000_000_000 + first)" && production.utf8.count == 15)
                #expect(sandbox == "\(2_000_000_000_000_000 + first + 1)" && sandbox.utf8.count == 16)
            }
        }
    }
}
