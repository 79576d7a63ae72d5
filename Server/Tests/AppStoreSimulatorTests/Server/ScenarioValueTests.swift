import AppStoreSimulator
import Foundation
import ServerTestSupport
import Testing

@Suite("Values in scenarios")
struct ScenarioValueTests {
    private func scenario(_ buyer: String, _ quantity: String, more: String = "{}") -> String {
        """
        app: { bundle_id: com.example.app, app_id: 77 }
        products:
          - { product_id: 2024, kind: consumable }
        customers:
          - { customer_id: \(buyer), environment: production }
        steps:
          - buy: { customer_id: \(buyer), product_id: 2024, quantity: \(quantity) }
            as: 7
            expect: { transaction: { quantity: \(quantity), customer_id: \(buyer), product_id: 2024 } }
          - finish: { purchase: 7 }
          - notify: \(more)
        """
    }

    @Test(
        "a number that YAML reads otherwise than settings is refused with the hint to quote it",
        arguments: ["010", "0x10", "0o10", "1_000", "1:30", "+5", ".5", "-007"])
    func ambiguousNumbers(text: String) throws {
        for (yaml, line) in [(scenario(text, "1"), 5), (scenario("ada", text), 7)] {
            let error = #expect(throws: ScenarioError.self) { _ = try Scenario(yaml: yaml) }
            #expect(error?.line == line)
            #expect(
                error?.words.hasSuffix(": \(text) is not a decimal number; quote a text: \"\(text)\"") == true,
                "\(text)")
        }
    }

    @Test("48.13 A scenario that only names its app runs in a store that has the app; one that describes it does not")
    func knownApp() async throws {
        try await SimulatorClient.run { client in
            let run = try ScenarioRun(store: "http://127.0.0.1:\(client.http.port)")
            _ = try await run.run(try Scenario(yaml: scenario("ada", "1"))) { _ in }
            let steps = "\nsteps: [{ buy: { customer_id: ada, product_id: 2024 } }]"
            #expect(try await run.run(try Scenario(yaml: "app: { bundle_id: com.example.app }" + steps)) { _ in } == 0)
            let described = try Scenario(yaml: "app: { bundle_id: com.example.app, app_id: 78 }" + steps)
            let error = await #expect(throws: ScenarioError.self) { _ = try await run.run(described) { _ in } }
            #expect(error?.words.contains("already_exists") == true)
        }
    }

    @Test(
        "ids are texts and numbers are decimal, as in settings",
        arguments: ["1001", "\"010\"", "12345678901234567890123", "yes", "1.10", "'0x10'"])
    func plainValues(buyer: String) async throws {
        try await SimulatorClient.run { client in
            let run = try ScenarioRun(store: "http://127.0.0.1:\(client.http.port)")
            var differences: [String] = []
            let wrong = try await run.run(try Scenario(yaml: scenario(buyer, "10"))) { differences += $0.differences }
            #expect(wrong == 0, "\(differences)")
            let expected = buyer.trimmingCharacters(in: CharacterSet(charactersIn: "\"'"))
            let state = try await client.get("/control/state").object
            #expect((state["customers"] as? [[String: Any]])?.map { $0["customer_id"] as? String } == [expected])
        }
    }
}
