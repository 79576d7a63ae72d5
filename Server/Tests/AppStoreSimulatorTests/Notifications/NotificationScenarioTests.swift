import AppStoreSimulator
import Foundation
import ServerTestSupport
import Testing

@Suite("28.4 Scenarios with notifications")
struct NotificationScenarioTests {
    @Test("28.4 A scenario sets the server, disturbs the delivery, waits for it, sends by hand and uses seats")
    func scenario() async throws {
        let receiver = NotificationReceiver()
        try await receiver.run { port in
            try await SimulatorClient.run { client in
                let scenario = try Scenario(
                    yaml: """
                        app: { bundle_id: com.example.teams }
                        products:
                          - product_id: team
                            kind: auto-renewable
                            subscription: { group_id: teams, period: P1M, invitations: DEVELOPER }
                        customers:
                          - { customer_id: ada, environment: production }
                        steps:
                          - notify: { url: "http://127.0.0.1:\(port)/n" }
                          - notification-fault: { kind: drop, notification_type: REFUND }
                          - buy: { customer_id: ada, product_id: team, quantity: 5 }
                            as: team
                          - add-seats: { purchase: team, seats: 3, notification_type: DID_CHANGE_RENEWAL_PREF }
                            as: more
                          - refund-seats: { purchase: more, seats: 1 }
                          - refund-seats: { purchase: more, seats: 1 }
                            expect: { transaction: { quantity: 3, seats: { revoked: 2 } } }
                          - notification: { type: PRICE_CHANGE, purchase: team }
                          - notification: { type: TEST }
                          - extend-all: { product_id: team, days: 5 }
                          - deliver: {}
                            expect: { accepted: 7, dropped: 1, waiting: 0 }
                        """)
                let run = try ScenarioRun(store: "http://127.0.0.1:\(client.http.port)")
                var differences: [String] = []
                let wrong = try await run.run(scenario) { differences += $0.differences }
                #expect(wrong == 0 && differences.isEmpty, "\(differences)")
            }
        }
        #expect(
            Set(try receiver.types) == [
                "SUBSCRIBED", "DID_CHANGE_RENEWAL_PREF", "REFUND", "PRICE_CHANGE", "TEST", "RENEWAL_EXTENDED",
                "RENEWAL_EXTENSION",
            ])
    }
}
