import AppStoreSimulator
import EvidenceMint
import Foundation
import HTTPTypes
import Hummingbird
import PurchaseVerification
import ServerTestSupport
import Testing

@Suite("28.4 The delivery of notifications can be disturbed")
struct NotificationControlTests {
    private static func run(
        _ receiver: NotificationReceiver, _ body: @escaping @Sendable (SimulatorClient) async throws -> Void
    ) async throws {
        try await receiver.run { port in
            try await SimulatorClient.run(DeliveryWorld.configuration(port)) { client in
                try await client.openShop()
                try await body(client)
            }
        }
    }

    @discardableResult
    private static func disturb(_ client: SimulatorClient, _ fault: [String: Any]) async throws
        -> SimulatorClient.Answer
    {
        let answer = try await client.post("/control/faults/notifications", fault)
        #expect(answer.status == 201, "\(answer.text)")
        return answer
    }

    @Test("28.4 Dropped notifications are never sent, and the others are")
    func drop() async throws {
        let receiver = NotificationReceiver()
        try await Self.run(receiver) { client in
            try await Self.disturb(client, ["kind": "drop", "count": 2])
            for _ in 1...5 { try await client.buy("coins") }
            try await client.advance(seconds: 40 * 86_400)
            let counts = try await client.deliver()
            #expect(counts["dropped"] as? Int == 2 && counts["accepted"] as? Int == 3)
            #expect(receiver.arrivals.count == 3)
            // By hand it still goes.
            #expect(try await client.post("/control/notifications/1/send").text("state") == "accepted")
        }
    }

    @Test("28.4 Only notifications of the named type are hit, and only the named share of them")
    func typeAndShare() async throws {
        let receiver = NotificationReceiver()
        try await Self.run(receiver) { client in
            try await Self.disturb(client, ["kind": "drop", "notification_type": "REFUND"])
            let id = try await client.buy("coins").text("transaction", "transaction_id")
            try await client.post("/control/transactions/\(id)/refund")
            #expect(try await client.deliver()["dropped"] as? Int == 1)
            #expect(try receiver.types == ["ONE_TIME_CHARGE"])
            try await Self.disturb(client, ["kind": "drop", "percentage": 50, "count": 60])
            for _ in 1...60 { try await client.buy("coins") }
            let dropped = try #require(try await client.deliver()["dropped"] as? Int) - 1
            // The chance follows from the identifiers, so each run has the same number.
            #expect((15...45).contains(dropped), "\(dropped)")
            #expect(receiver.arrivals.count == 61 - dropped)
        }
    }

    @Test("28.4 A delayed notification is sent that much later by the store's clock")
    func delay() async throws {
        let receiver = NotificationReceiver()
        try await Self.run(receiver) { client in
            try await Self.disturb(client, ["kind": "delay", "seconds": 3600])
            try await client.buy("coins")
            try await client.buy("gold")
            try await client.deliver()
            #expect(try receiver.types == ["SUBSCRIBED"])
            try await client.advance(seconds: 3599)
            try await client.deliver()
            #expect(receiver.arrivals.count == 1)
            try await client.advance(seconds: 1)
            try await client.deliver()
            #expect(try receiver.types == ["SUBSCRIBED", "ONE_TIME_CHARGE"])
        }
    }

    @Test("28.4 A repeated notification has the same UUID, and at most six attempts")
    func again() async throws {
        let receiver = NotificationReceiver()
        try await Self.run(receiver) { client in
            try await Self.disturb(client, ["kind": "repeat", "times": 5])
            try await client.buy("coins")
            try await client.deliver()
            #expect(receiver.arrivals.count == 6)
            #expect(Set(try receiver.arrivals.map { try $0.uuid }).count == 1)
            #expect(try await client.latestResults() == Array(repeating: "SUCCESS", count: 6))
        }
    }

    @Test("28.4 Shuffled notifications arrive in another order, all of them, and the same order in each run")
    func shuffle() async throws {
        var orders: [[String]] = []
        for _ in 1...2 {
            let receiver = NotificationReceiver()
            try await Self.run(receiver) { client in
                try await Self.disturb(client, ["kind": "shuffle", "seconds": 86_400, "count": 12])
                for _ in 1...12 { try await client.buy("coins") }
                while let next = try await client.get("/control/notifications").object["next_attempt"] as? String {
                    try await client.post("/control/clock", ["time": next])
                    try await client.deliver()
                }
            }
            orders.append(try receiver.arrivals.map { try $0.uuid })
        }
        #expect(orders[0].count == 12 && Set(orders[0]).count == 12)
        #expect(orders[0] == orders[1])
        // Twelve notifications are in the order of their events with a chance of one in 479 million.
        let receiver = NotificationReceiver()
        try await Self.run(receiver) { client in
            for _ in 1...12 {
                try await client.buy("coins")
                try await client.deliver()
            }
        }
        #expect(try receiver.arrivals.map { try $0.uuid } != orders[0])
        #expect(Set(try receiver.arrivals.map { try $0.uuid }) == Set(orders[0]))
    }

    @Test("28.4 A forged copy is sent beside the genuine notification, once, and does not verify")
    func forge() async throws {
        let verifier = try DeliveryWorld.verifier()
        let receiver = NotificationReceiver()
        try await Self.run(receiver) { client in
            for fault in ["foreign-signature", "wrong-root", "edited-claims", "alg-none"] {
                try await Self.disturb(client, ["kind": "forge", "fault": fault])
                try await client.buy("coins")
            }
            try await client.advance(seconds: 40 * 86_400)
            let counts = try await client.deliver()
            #expect(counts["accepted"] as? Int == 4)
            #expect(receiver.arrivals.count == 8)
            let genuine = receiver.arrivals.filter { arrival in
                do {
                    _ = try verifier.verify(Array(arrival.payload.utf8), policies: [])
                    return true
                } catch {
                    return false
                }
            }
            #expect(Set(try genuine.map { try $0.uuid }).count == 4 && genuine.count == 4)
        }
    }

    @Test(
        "28.4 Impossible disturbances are refused",
        arguments: [
            ["kind": "lose"], ["kind": "drop", "count": "0"], ["kind": "delay"],
            ["kind": "forge", "fault": "nonsense"],
            ["kind": "repeat", "times": "6"], ["kind": "drop", "percentage": "101"], ["kind": "drop", "counts": "1"],
        ])
    func refusals(fault: [String: String]) async throws {
        let fault = fault.mapValues { value -> any Sendable in
            if let number = Int(value) { return number }
            return value
        }
        try await SimulatorClient.run { client in
            let answer = try await client.post("/control/faults/notifications", fault)
            #expect([400, 422].contains(answer.status), "\(answer.text)")
        }
    }

    @Test("28.4 A reset forgets notifications and disturbances, and keeps the server")
    func reset() async throws {
        let receiver = NotificationReceiver(status: 500)
        try await Self.run(receiver) { client in
            try await Self.disturb(client, ["kind": "delay", "seconds": 60, "count": 9])
            try await client.buy("coins")
            try await client.post("/control/reset")
            let counts = try await client.deliver()
            #expect(counts["waiting"] as? Int == 0 && (counts["faults"] as? [Any])?.isEmpty == true)
            #expect(counts["url"] != nil && receiver.arrivals.isEmpty)
        }
    }
}
