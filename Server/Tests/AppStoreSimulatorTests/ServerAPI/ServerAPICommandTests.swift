import AppStoreSimulator
import Foundation
import HTTPTypes
import Testing

@Suite("29.1 What the App Store Server API is told changes the store")
struct ServerAPICommandTests {
    private static var wanted: [String: Any] {
        ["extendByDays": 30, "extendReasonCode": 1, "requestIdentifier": "outage-1"]
    }

    @Test("29.1 A subscription is extended twice a year, and only if it was paid for")
    func extend() async throws {
        try await ServerAPIClient.run { client in
            let id = try await client.buy("gold")
            let path = "/inApps/v1/subscriptions/extend/\(id)"
            for (change, code) in [
                (["extendByDays": 91], 4_000_009), (["extendByDays": "3"], 4_000_009),
                (["extendReasonCode": 4], 4_000_010),
                (["requestIdentifier": String(repeating: "x", count: 129)], 4_000_011),
            ] as [([String: Any], Int)] {
                let answer = try await client.send(.put, path, Self.wanted.merging(change) { $1 })
                #expect(try answer.status == 400 && answer.errorCode == code, "\(answer.text)")
            }
            let before = try await Self.expiry(client, id)
            let answer = try await client.send(.put, path, Self.wanted).object
            let after = before + 30 * 86_400_000
            #expect(answer["success"] as? Bool == true && answer["effectiveDate"] as? Int == after)
            #expect(answer["originalTransactionId"] as? String == id && answer["webOrderLineItemId"] is String)
            #expect(try await Self.expiry(client, id) == after)
            #expect(try await client.send(.put, path, Self.wanted).status == 200)
            let third = try await client.send(.put, path, Self.wanted)
            #expect(try third.status == 403 && third.errorCode == 4_030_005)
            // A year later, after renewals.
            try await client.simulator.post("/control/clock", ["advance_seconds": 400 * 86_400])
            #expect(try await client.send(.put, path, Self.wanted).status == 200)
            try await client.simulator.post("/control/subscriptions/\(id)/fail-billing")
            #expect(try await client.send(.put, path, Self.wanted).errorCode == 4_030_004)
            let unknown = try await client.send(.put, "/inApps/v1/subscriptions/extend/123", Self.wanted)
            #expect(try unknown.errorCode == 4_040_005)
        }
    }

    @Test("29.1 All subscribers of a product are extended once for a request, with their notifications")
    func massExtend() async throws {
        let receiver = NotificationReceiver()
        try await receiver.run { port in
            try await ServerAPIClient.run(DeliveryWorld.configuration(port)) { client in
                for name in ["a", "b"] {
                    try await client.simulator.post(
                        "/control/customers", ["customer_id": name, "environment": "production"])
                    _ = try await client.buy("gold", by: name)
                }
                let failing = try await client.buy("gold")
                try await client.simulator.post("/control/subscriptions/\(failing)/billing", ["works": false])
                try await client.simulator.post("/control/clock", ["advance_seconds": 31 * 86_400])
                try await client.simulator.deliver()
                let earlier = receiver.arrivals.count
                let wanted = Self.wanted.merging(["productId": "gold"]) { $1 }
                let path = "/inApps/v1/subscriptions/extend/mass"
                for (change, code) in [
                    (["storefrontCountryCodes": [String]()], 4_000_027),
                    (["storefrontCountryCodes": ["US"]], 4_000_028),
                    (["productId": "silver"], 4_000_023),
                ] as [([String: Any], Int)] {
                    #expect(try await client.send(.post, path, wanted.merging(change) { $1 }).errorCode == code)
                }
                for _ in 1...2 {
                    let answer = try await client.send(.post, path, wanted)
                    #expect(try answer.object["requestIdentifier"] as? String == "outage-1")
                }
                let status = try await client.get("\(path)/gold/outage-1").object
                #expect(status["complete"] as? Bool == true && status["completeDate"] is Int)
                #expect(status["succeededCount"] as? Int == 2 && status["failedCount"] as? Int == 1)
                #expect(try await client.get("\(path)/gold/outage-2").errorCode == 4_040_009)
                try await client.simulator.deliver()
                let types = try receiver.types.dropFirst(earlier).sorted()
                #expect(types == ["RENEWAL_EXTENDED", "RENEWAL_EXTENDED", "RENEWAL_EXTENSION", "RENEWAL_EXTENSION"])
            }
        }
    }

    @Test("29.1 An account token counts from the present period on; past periods keep theirs")
    func accountToken() async throws {
        try await ServerAPIClient.run { client in
            let old = "6f1b2c3d-0000-4000-8000-000000000001"
            let new = "6F1B2C3D-0000-4000-8000-000000000002"
            let id = try await client.buy("gold", ["app_account_token": old])
            try await client.simulator.post("/control/subscriptions/\(id)/renew")
            let path = "/inApps/v1/transactions/\(id)/appAccountToken"
            #expect(try await client.send(.put, path, ["appAccountToken": "x"]).errorCode == 4_000_183)
            let answer = try await client.send(.put, path, ["appAccountToken": new])
            #expect(answer.status == 200 && answer.text.isEmpty)
            try await client.simulator.post("/control/subscriptions/\(id)/renew")
            let history = try await client.get("/inApps/v2/history/\(id)").signed("signedTransactions")
            let tokens = history.sorted { ($0["purchaseDate"] as? Int ?? 0) < ($1["purchaseDate"] as? Int ?? 0) }
                .map { $0["appAccountToken"] as? String }
            #expect(tokens == [old, new.lowercased(), new.lowercased()])
            let second = try #require(history.compactMap { $0["transactionId"] as? String }.first { $0 != id })
            let other = "/inApps/v1/transactions/\(second)/appAccountToken"
            #expect(try await client.send(.put, other, ["appAccountToken": new]).errorCode == 4_000_187)
            let unknown = "/inApps/v1/transactions/123/appAccountToken"
            #expect(try await client.send(.put, unknown, ["appAccountToken": new]).errorCode == 4_040_005)
        }
    }

    @Test("29.1 Consumption is checked, answered with 202, and decides refunds by the stated odds")
    func consumption() async throws {
        try await ServerAPIClient.run { client in
            let simulator = client.simulator
            let good: [String: Any] = [
                "customerConsented": true, "sampleContentProvided": false, "deliveryStatus": "DELIVERED",
                "consumptionPercentage": 25_000, "refundPreference": "GRANT_PRORATED",
            ]
            let id = try await client.buy("coins")
            let path = "/inApps/v2/transactions/consumption/\(id)"
            for (change, code) in [
                (["customerConsented": false], 4_000_035), (["sampleContentProvided": NSNull()], 4_000_041),
                (["deliveryStatus": "LOST"], 4_000_036), (["refundPreference": "MAYBE"], 4_000_044),
                (["consumptionPercentage": 100_001], nil), (["consumptionPercentage": 100_000], nil),
                (["deliveryStatus": "UNDELIVERED_OTHER"], nil),
            ] as [([String: Any], Int?)] {
                let answer = try await client.send(.put, path, good.merging(change) { $1 })
                #expect(try answer.status == 400 && answer.errorCode == code, "\(change) \(answer.text)")
            }
            let gold = try await client.buy("gold")
            let subscription = "/inApps/v2/transactions/consumption/\(gold)"
            #expect(try await client.send(.put, subscription, good).errorCode == 4_000_209)

            let odds = ["decline": 0, "grant_full": 100, "grant_prorated": 100, "no_preference": 0, "no_answer": 0]
            #expect(try await simulator.post("/control/refund-odds", ["odds": odds]).status == 200)
            let (denied, silent) = (try await client.buy("coins"), try await client.buy("coins"))
            for asked in [id, denied, silent] {
                try await simulator.post("/control/transactions/\(asked)/ask-for-refund")
            }
            #expect(try await client.send(.put, path, good).status == 202)
            var declined = good
            declined["refundPreference"] = "DECLINE"
            #expect(
                try await client.send(.put, "/inApps/v2/transactions/consumption/\(denied)", declined).status == 202)
            try await simulator.post("/control/clock", ["advance_seconds": 12 * 3600 + 1])
            let refunds = try await client.get("/inApps/v2/refund/lookup/\(id)").signed("signedTransactions")
            #expect(refunds.map { $0["transactionId"] as? String } == [id])
            #expect(refunds.first?["revocationPercentage"] as? Int == 75_000)
            let events = try await simulator.get("/control/lists/events?limit=50").text
            #expect(events.components(separatedBy: #""kind":"refund-declined""#).count == 3)
            // The deprecated call.
            let v1: [String: Any] = ["customerConsented": true, "consumptionStatus": 3, "refundPreference": 2]
            let old = "/inApps/v1/transactions/consumption/\(silent)"
            #expect(try await client.send(.put, old, v1).status == 202)
            #expect(try await client.send(.put, old, v1.merging(["platform": 3]) { $1 }).errorCode == 4_000_039)
        }
    }

    /// The end of the present period, in milliseconds.
    private static func expiry(_ client: ServerAPIClient, _ id: String) async throws -> Int {
        let answer = try await client.get("/inApps/v1/transactions/\(id)").object
        let claims = try JWSClaims.read(try #require(answer["signedTransactionInfo"] as? String))
        return try #require(claims["expiresDate"] as? Int)
    }
}
