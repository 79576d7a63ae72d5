import EvidenceMint
import Foundation
import HTTPTypes
import Logging
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import TestSupport
import Testing

@Suite("The log of requests")
struct RequestLogTests {
    private static let requestID = HTTPField.Name("Assay-Request-ID")

    @Test("has one line for each request to /v1, with app, key, route, status and code, under the id of the answer")
    func lines() async throws {
        let log = RecordingLog()
        try await PurchaseServerWorld.run(logger: log.logger(.info)) { world async throws in
            let claim = try PurchaseServerWorld.purchase()
            let answers = [
                try await world.send(.post, "/v1/purchases", claim, as: .client),
                try await world.send(.post, "/v1/purchases", claim, as: nil),
                try await world.send(
                    .post, "/v1/purchases", PurchaseServerWorld.purchase(customerID: "mallory"), as: .client),
                try await world.send(.get, "/v1/customers/alice/entitlements", as: .backend),
                try await world.send(.get, "/nowhere/at/all"),
                try await world.send(.get, "/v1/submissions", as: .client),
            ]
            let lines = log.requests
            #expect(lines.map { $0.facts["status"] } == ["200", "401", "409", "200", "404", "403"])
            #expect(
                lines.map { $0.facts["code"] } == [
                    nil, "key_missing", "already_claimed", nil, "not_found", "scope_insufficient",
                ])
            #expect(
                lines.map { $0.facts["route"] } == [
                    "/v1/purchases", "/v1/purchases", "/v1/purchases", "/v1/customers/{id}/entitlements", "NotFound",
                    "/v1/submissions",
                ])
            #expect(lines.map { $0.facts["app"] } == ["example", nil, "example", "example", nil, "example"])
            #expect(lines.allSatisfy { ($0.facts["key"] == nil) == ($0.facts["app"] == nil) })
            #expect(lines.allSatisfy { $0.level == .info && $0.facts["duration_ms"].flatMap(Double.init) != nil })
            let name = try #require(Self.requestID)
            #expect(answers.map { $0.headers[name] } == lines.map { $0.facts["hb.request.id"] })
            #expect(Set(lines.map { $0.facts["hb.request.id"] }).count == lines.count)
        }
    }

    @Test("has verifyReceipt and monitors at level debug, unless the answer refuses something")
    func quiet() async throws {
        for level in [Logger.Level.info, .debug] {
            let log = RecordingLog()
            try await PurchaseServerWorld.run(logger: log.logger(level)) { world async throws in
                let receipt = Data(try MintedWorld.mint()).base64EncodedString()
                let good = try await world.send(
                    .post, "/sandbox/verifyReceipt", data: Data(#"{"receipt-data":"\#(receipt)"}"#.utf8), as: nil)
                #expect(good.text.contains(#""status":0"#))
                _ = try await world.send(.get, "/healthz", as: nil)
                #expect(log.requests.count == (level == .debug ? 2 : 0))
                _ = try await world.send(.post, "/verifyReceipt", data: Data("{}".utf8), as: nil)
                let line = try #require(log.requests.last)
                #expect(line.facts["code"] != nil && line.facts["receipt_status"] == "21002")
            }
        }
    }

    @Test("never holds what the sender wrote or a secret, at any level")
    func secrets() async throws {
        let log = RecordingLog()
        let secret = "shared-secret-\(UUID().uuidString)"
        try await PurchaseServerWorld.run(logger: log.logger(.trace)) {
            $0.sharedSecret = secret
        } _: { world async throws in
            let marker = "marker-\(UUID().uuidString)"
            let claim = try PurchaseServerWorld.purchase(customerID: marker)
            let receipt = try #require(claim.receiptData)
            _ = try await world.send(.post, "/v1/purchases", claim, as: .client, idempotencyKey: marker)
            _ = try await world.send(.get, "/v1/customers/\(marker)/entitlements?\(marker)=1", as: .backend)
            _ = try await world.send(
                .get, "/\(marker)", as: nil, headers: [.authorization: "Bearer \(marker)", .userAgent: marker])
            _ = try await world.send(
                .post, "/verifyReceipt",
                data: Data(#"{"receipt-data":"\#(receipt)","password":"\#(secret)","\#(marker)":1}"#.utf8), as: nil)
            let method = try #require(HTTPRequest.Method("PURGE"))
            _ = try await world.send(method, "/v1/orders", as: .backend)
            let texts = log.lines.flatMap { [$0.message] + $0.facts.keys + $0.facts.values }
            #expect(log.requests.count == 5)
            for forbidden in [marker, "PURGE", secret, String(receipt.prefix(40))] + Array(world.keys.values) {
                #expect(!texts.contains { $0.contains(forbidden) }, "the log has \(forbidden)")
            }
        }
    }
}

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
