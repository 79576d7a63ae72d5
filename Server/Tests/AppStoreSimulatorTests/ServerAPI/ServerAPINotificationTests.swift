import AppStoreSimulator
import Foundation
import HTTPTypes
import Hummingbird
import Testing

@Suite("29.1 The notification history tells what was sent")
struct ServerAPINotificationTests {
    private static func body(_ more: [String: Any] = [:]) -> [String: Any] {
        let start = Int(StoreWorld.start.timeIntervalSince1970) * 1000
        return ["startDate": start, "endDate": start + 30 * 86_400_000].merging(more) { $1 }
    }

    private static let path = "/inApps/v1/notifications/history"

    @Test("29.1 A test notification goes to the address of its environment, and its attempts can be asked about")
    func test() async throws {
        let (production, sandbox) = (NotificationReceiver(), NotificationReceiver())
        try await production.run { port in
            try await sandbox.run { sandboxPort in
                try await ServerAPIClient.run { client in
                    let none = try await client.send(.post, "/inApps/v1/notifications/test")
                    #expect(try none.status == 404 && none.errorCode == 4_040_007)
                    try await client.simulator.post(
                        "/control/notifications/url",
                        ["url": "http://127.0.0.1:\(port)/p", "sandbox_url": "http://127.0.0.1:\(sandboxPort)/s"])
                    for isSandbox in [false, true] {
                        let sent = try await client.send(.post, "/inApps/v1/notifications/test", sandbox: isSandbox)
                        let token = try #require(try sent.object["testNotificationToken"] as? String)
                        try await client.simulator.deliver()
                        let path = "/inApps/v1/notifications/test/\(token)"
                        let status = try await client.get(path, sandbox: isSandbox).object
                        let attempts = try #require(status["sendAttempts"] as? [[String: Any]])
                        #expect(attempts.map { $0["sendAttemptResult"] as? String } == ["SUCCESS"])
                        let claims = try JWSClaims.read(try #require(status["signedPayload"] as? String))
                        #expect(claims["notificationType"] as? String == "TEST")
                        #expect(try await client.get(path, sandbox: !isSandbox).errorCode == 4_040_008)
                    }
                    #expect(try production.types == ["TEST"] && sandbox.types == ["TEST"])
                    #expect(try await client.get("/inApps/v1/notifications/test/x").errorCode == 4_000_020)
                }
            }
        }
    }

    @Test("29.1 A stale history has what was sent when the fault was set")
    func staleHistory() async throws {
        let receiver = NotificationReceiver()
        try await receiver.run { port in
            try await ServerAPIClient.run(DeliveryWorld.configuration(port)) { client in
                _ = try await client.buy("coins")
                try await client.simulator.deliver()
                try await client.simulator.post(
                    "/control/faults/server-api",
                    ["kind": "stale", "operation": "notification-history", "count": 1])
                _ = try await client.buy("coins")
                try await client.simulator.deliver()
                for expected in [1, 2] {
                    let page = try await client.send(.post, Self.path, Self.body())
                    let items = try page.object["notificationHistory"] as? [[String: Any]]
                    #expect(page.status == 200 && items?.count == expected, "\(page.text.prefix(300))")
                }
            }
        }
    }

    @Test("29.1 The history has lost notifications and six attempts, in pages of 20 whose tokens expire")
    func history() async throws {
        let receiver = NotificationReceiver { _, number in
            .init(status: number == 1 || number > 24 ? .serviceUnavailable : .ok)
        }
        try await receiver.run { port in
            try await ServerAPIClient.run(DeliveryWorld.configuration(port)) { client in
                // One at a time, so that the first one is refused.
                let first = try await client.buy("coins")
                try await client.simulator.deliver()
                try await client.simulator.post("/control/faults/notifications", ["kind": "drop"])
                for _ in 0..<24 { _ = try await client.buy("coins") }
                try await client.simulator.deliver()
                let page = try await client.send(.post, Self.path, Self.body())
                #expect(page.status == 200, "\(page.text.prefix(300))")
                #expect(try page.object["hasMore"] as? Bool == true)
                let token = try #require(try page.object["paginationToken"] as? String)
                let items = try #require(try page.object["notificationHistory"] as? [[String: Any]])
                #expect(items.count == 20)
                let rest = try await client.send(.post, "\(Self.path)?paginationToken=\(token)", Self.body()).object
                #expect((rest["notificationHistory"] as? [Any])?.count == 5 && rest["hasMore"] as? Bool == false)
                #expect(rest["paginationToken"] == nil)
                let lost = try #require(items[1]["sendAttempts"] as? [[String: Any]])
                #expect(lost.map { $0["sendAttemptResult"] as? String } == ["TIMED_OUT"])
                let other = try await client.send(
                    .post, "\(Self.path)?paginationToken=\(token)", Self.body(["onlyFailures": true]))
                #expect(try other.errorCode == 4_000_014)
                // All later attempts are refused, too.
                try await client.simulator.post("/control/clock", ["advance_seconds": 8 * 86_400])
                try await client.simulator.deliver()
                let failures = try await client.send(.post, Self.path, Self.body(["onlyFailures": true])).object
                let failed = try #require(failures["notificationHistory"] as? [[String: Any]])
                #expect(failed.count == 2)
                let attempts = try #require(failed[0]["sendAttempts"] as? [[String: Any]])
                #expect(attempts.count == 6)
                let claims = try JWSClaims.read(try #require(failed[0]["signedPayload"] as? String))
                #expect(claims["signedDate"] as? Int == Int(StoreWorld.start.timeIntervalSince1970) * 1000)
                let expired = try await client.send(.post, "\(Self.path)?paginationToken=\(token)", Self.body())
                #expect(try expired.errorCode == 4_000_017)
                let own = try await client.send(.post, Self.path, Self.body(["transactionId": first])).object
                #expect((own["notificationHistory"] as? [Any])?.count == 20)
                let refunds = try await client.send(.post, Self.path, Self.body(["notificationType": "REFUND"]))
                #expect(try (refunds.object["notificationHistory"] as? [Any])?.isEmpty == true)
            }
        }
    }

    @Test("29.1 The history refuses wrong times and filters with Apple's numbers")
    func refusals() async throws {
        try await ServerAPIClient.run { client in
            let id = try await client.buy("coins")
            let start = Int(StoreWorld.start.timeIntervalSince1970) * 1000
            for (change, code) in [
                (["startDate": start - 181 * 86_400_000], 4_000_012), (["endDate": start], 4_000_013),
                (["startDate": "x"], 4_000_015), (["endDate": NSNull()], 4_000_016),
                (["notificationType": "GIFT"], 4_000_018), (["notificationSubtype": "UPGRADE"], 4_000_018),
                (["notificationType": "REFUND", "notificationSubtype": "UPGRADE"], 4_000_018),
                (["notificationType": "REFUND", "transactionId": id], 4_000_019),
                (["transactionId": "x"], 4_000_006), (["transactionId": "123"], 4_040_010),
            ] as [([String: Any], Int)] {
                let answer = try await client.send(.post, Self.path, Self.body(change))
                #expect(try answer.errorCode == code, "\(change) \(answer.text)")
            }
            // The sandbox reaches back a month.
            let old = try await client.send(
                .post, Self.path, Self.body(["startDate": start - 31 * 86_400_000]), sandbox: true)
            #expect(try old.errorCode == 4_000_012)
        }
    }
}
