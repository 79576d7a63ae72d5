import EvidenceMint
import Foundation
import HTTPTypes
import Logging
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

/// W3C Trace Context, passed on.
@Suite("31.4 Traces")
struct TraceTests {
    private static let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    private static let id = "4bf92f3577b34da6a3ce929d0e0e4736"

    private static func headers(_ value: String) throws -> HTTPFields {
        var headers = HTTPFields()
        headers[try #require(HTTPField.Name("traceparent"))] = value
        return headers
    }

    @Test("The id of a trace is in the lines of its request, and a request without one has none")
    func log() async throws {
        let log = RecordingLog()
        try await PurchaseServerWorld.run(logger: log.logger(.info)) { world in
            let claim = try PurchaseServerWorld.purchase()
            _ = try await world.send(.post, "/v1/purchases", claim, as: .client)
            _ = try await world.send(.post, "/v1/purchases", claim, as: .client, headers: Self.headers(Self.trace))
            #expect(log.requests.map { $0.facts["trace"] } == [nil, Self.id])
        }
    }

    @Test(
        "A header of another form is ignored, and the request is answered",
        arguments: [
            "", "x", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01, 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473\"-00f067aa0ba902b7-01",
        ])
    func malformed(value: String) async throws {
        let log = RecordingLog()
        try await PurchaseServerWorld.run(logger: log.logger(.info)) { world in
            let answer = try await world.send(.get, "/v1/orders", as: .backend, headers: Self.headers(value))
            #expect(answer.status == 200)
            #expect(log.requests.map { $0.facts["trace"] } == [nil])
        }
    }

    @Test("Webhooks get the trace of the claim that they tell of, and none for a claim without one")
    func webhook() async throws {
        try await WebhookReceiver.run { receiver in
            let url = try #require(WebhookURL("http://127.0.0.1:\(receiver.port)/hook"))
            let secret = try #require(WebhookSecret("whsec_\(Data(repeating: 1, count: 32).base64EncodedString())"))
            try await PurchaseServerWorld.run {
                $0.webhooks = [Webhook(app: "example", url: url, secrets: [secret], allowedHosts: ["127.0.0.1"])]
            } _: { world in
                while try await world.ledger.answer(WebhookList(app: "example")).isEmpty {
                    try await Task.sleep(for: .milliseconds(20))
                }
                for (number, headers) in [("1", try Self.headers(Self.trace)), ("2", HTTPFields())] {
                    let claim = try PurchaseServerWorld.signed(number).claim(customerID: "customer\(number)")
                    let answer = try await world.send(.post, "/v1/purchases", claim, as: .client, headers: headers)
                    #expect(answer.status == 200, "\(answer.text)")
                }
                try await receiver.wait("a delivery about each customer") { deliveries in
                    ["customer1", "customer2"].allSatisfy { customer in
                        deliveries.contains { $0.member("customer_id") == customer }
                    }
                }
            }
            for delivery in receiver.deliveries {
                let isTraced = delivery.member("customer_id") == "customer1"
                #expect(delivery.headers["traceparent"] == (isTraced ? Self.trace : nil), "\(delivery.text)")
            }
        }
    }
}
