import AppStoreSimulator
import Foundation
import HTTPTypes
import HummingbirdCore
import ServerTestSupport
import Testing

@Suite("28.4 Notifications are sent by the store's clock")
struct NotificationScheduleTests {
    private static func hours(_ notification: [String: Any]) throws -> [Double] {
        let attempts = try #require(notification["attempts"] as? [[String: Any]])
        return try attempts.map { attempt in
            let date = try Date(try #require(attempt["date"] as? String), strategy: .iso8601)
            return date.timeIntervalSince(StoreWorld.start) / 3600
        }
    }

    @Test("28.4 The store sends what it signs, once, and records the attempt")
    func once() async throws {
        let receiver = NotificationReceiver()
        try await receiver.run { port in
            try await SimulatorClient.run(DeliveryWorld.configuration(port)) { client in
                try await client.openShop()
                let bought = try await client.buy("coins").text("transaction", "transaction_id")
                let counts = try await client.deliver()
                #expect(counts["accepted"] as? Int == 1 && counts["waiting"] as? Int == 0)
                let arrival = try #require(receiver.arrivals.first)
                #expect(arrival.path == "/notifications/v2")
                let data = try #require(try arrival.claims["data"] as? [String: Any])
                let nested = try JWSClaims.read(try #require(data["signedTransactionInfo"] as? String))
                #expect(nested["transactionId"] as? String == bought)
                let event = try await client.get("/control/events/1/notification")
                #expect(try event.text("payload", "notificationUUID") == arrival.uuid)
                let notification = try #require(try await client.notifications().first)
                #expect(notification["state"] as? String == "accepted")
                #expect(try Self.hours(notification) == [0])
                try await client.advance(seconds: 400_000)
                try await client.deliver()
                #expect(receiver.arrivals.count == 1)
            }
        }
    }

    @Test("28.4 Production is sent again 1, 12, 24, 48 and 72 hours after the attempt before, the sandbox once")
    func retries() async throws {
        let receiver = NotificationReceiver(status: 500)
        try await receiver.run { port in
            try await SimulatorClient.run(DeliveryWorld.configuration(port)) { client in
                try await client.openShop()
                try await client.buy("coins", by: "tester")
                #expect(try await client.deliver()["failed"] as? Int == 1)
                try await client.buy("coins")
                try await client.deliver()
                for (number, hours) in [1, 12, 24, 48, 72].enumerated() {
                    // Not a second before.
                    try await client.advance(seconds: hours * 3600 - 1)
                    try await client.deliver()
                    #expect(receiver.arrivals.count == number + 2)
                    try await client.advance(seconds: 1)
                    try await client.deliver()
                    #expect(receiver.arrivals.count == number + 3)
                }
                try await client.advance(seconds: 30 * 86_400)
                #expect(try await client.deliver()["failed"] as? Int == 2)
                #expect(receiver.arrivals.count == 7)
                let notifications = try await client.notifications()
                #expect(try Self.hours(try #require(notifications.first)) == [0])
                #expect(try Self.hours(try #require(notifications.last)) == [0, 1, 13, 37, 85, 157])
                #expect(Set(try receiver.arrivals.dropFirst().map { try $0.uuid }).count == 1)
            }
        }
    }

    @Test(
        "28.4 A jump of the clock over all retries makes each at its own time, and stops at the first that is accepted")
    func jump() async throws {
        let receiver = NotificationReceiver { _, number in .init(status: number <= 3 ? .serviceUnavailable : .ok) }
        try await receiver.run { port in
            try await SimulatorClient.run(DeliveryWorld.configuration(port)) { client in
                try await client.openShop()
                try await client.buy("coins")
                try await client.advance(seconds: 60 * 86_400)
                try await client.deliver()
                let notification = try #require(try await client.notifications().first)
                #expect(try Self.hours(notification) == [0, 1, 13, 37])
                #expect(notification["state"] as? String == "accepted")
            }
        }
    }

    @Test("28.4 A year of renewals is sent when the clock moves, each with its own date")
    func renewals() async throws {
        let receiver = NotificationReceiver()
        try await receiver.run { port in
            try await SimulatorClient.run(DeliveryWorld.configuration(port)) { client in
                try await client.openShop()
                try await client.buy("gold")
                try await client.post("/control/clock", ["advance": "P1Y"])
                #expect(try await client.deliver()["accepted"] as? Int == 13)
                #expect(try receiver.types.filter { $0 == "DID_RENEW" }.count == 12)
                #expect(Set(try receiver.arrivals.map { try $0.uuid }).count == 13)
                let dates = try receiver.arrivals.compactMap { try $0.claims["signedDate"] as? Int }
                #expect(Set(dates).count == 13)
            }
        }
    }

    @Test("28.4 A running clock sends without any request, also renewals that fall due by themselves")
    func realTime() async throws {
        let receiver = NotificationReceiver()
        try await receiver.run { port in
            let configuration = DeliveryWorld.configuration(port) { $0.clock = nil }
            try await SimulatorClient.run(configuration) { client in
                try await client.openShop()
                try await client.buy("gold")
                try await receiver.wait(for: 1)
                // A month passes in a second.
                try await client.post("/control/clock", ["rate": 2_635_200])
                try await receiver.wait(for: 3)
                try await client.post("/control/clock", ["rate": 0])
                #expect(try receiver.types.prefix(1) == ["SUBSCRIBED"])
                #expect(try receiver.types.contains("DID_RENEW"))
            }
        }
    }

    @Test("28.4 Attempts are kept over a restart, and the next one follows the last")
    func restart() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let database = folder.appending(path: "store.sqlite").path
        let down = NotificationReceiver(status: 503)
        try await down.run { port in
            try await SimulatorClient.run(DeliveryWorld.configuration(port) { $0.database = database }) { client in
                try await client.openShop()
                try await client.buy("coins")
                try await client.deliver()
            }
        }
        let up = NotificationReceiver()
        try await up.run { port in
            try await SimulatorClient.run(DeliveryWorld.configuration(port) { $0.database = database }) { client in
                try await client.deliver()
                #expect(up.arrivals.isEmpty)
                try await client.advance(seconds: 3600)
                try await client.deliver()
                #expect(try await client.latestResults() == ["UNSUCCESSFUL_HTTP_RESPONSE_CODE", "SUCCESS"])
                #expect(up.arrivals.first?.payload != nil)
                #expect(try up.arrivals.first?.uuid == down.arrivals.first?.uuid)
            }
        }
    }

    @Test("28.4 A server can be set, changed and removed while the store runs; a notification is sent again by hand")
    func address() async throws {
        let receiver = NotificationReceiver()
        try await receiver.run { port in
            try await SimulatorClient.run { client in
                try await client.openShop()
                try await client.buy("coins")
                #expect(try await client.deliver()["accepted"] as? Int == 0)
                #expect(try await client.post("/control/notifications/1/send").text("code") == "wrong_state")
                let refused = try await client.post("/control/notifications/url", ["url": "ftp://127.0.0.1/x"])
                #expect(try refused.text("code") == "invalid_value")
                try await client.post("/control/notifications/url", ["url": "http://127.0.0.1:\(port)/a"])
                // It happened before there was a server.
                let sent = try await client.post("/control/notifications/1/send")
                #expect(try sent.text("state") == "accepted")
                for _ in 1...5 { try await client.post("/control/notifications/1/send") }
                #expect(receiver.arrivals.count == 6)
                #expect(try await client.post("/control/notifications/1/send").text("code") == "wrong_state")
                try await client.post("/control/notifications/url", ["url": NSNull()])
                try await client.buy("coins")
                try await client.deliver()
                #expect(receiver.arrivals.count == 6)
                #expect(try await client.get("/control/notifications/2").text("code") == "wrong_state")
                #expect(try await client.get("/control/notifications/99").text("code") == "unknown_event")
            }
        }
    }

    @Test("28.4 A slow server delays no other notification")
    func slowAnswers() async throws {
        let isReleased = Flag()
        let receiver = NotificationReceiver { _, number in
            while number == 1, !isReleased.isSet { try await Task.sleep(for: .milliseconds(10)) }
            return .init(status: .ok)
        }
        try await receiver.run { port in
            try await SimulatorClient.run(
                DeliveryWorld.configuration(port) { $0.notificationTimeLimit = .seconds(300) }
            ) { client in
                try await client.openShop()
                try await client.buy("coins")
                try await receiver.wait(for: 1)
                for _ in 1...20 { try await client.buy("coins", by: "tester") }
                try await receiver.wait(for: 21, within: .seconds(250))
                isReleased.set()
                #expect(try await client.deliver()["accepted"] as? Int == 21)
            }
        }
    }
}
