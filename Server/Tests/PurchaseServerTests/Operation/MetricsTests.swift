import EvidenceMint
import Foundation
import HTTPTypes
import Metrics
import NIOCore
import NIOHTTP1
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import ServerTestSupport
import TestSupport
import Testing

/// What `/metrics` counts, over real HTTP.
@Suite("31.4 Metrics")
struct MetricsTests {
    private static func run(
        _ change: (inout ServerConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (PurchaseServerWorld) async throws -> Void
    ) async throws {
        try await PurchaseServerWorld.run(
            {
                $0.admin = .port(host: "127.0.0.1", 0)
                change(&$0)
            }, body)
    }

    @Test("Requests, refusals, verifications, claims and commits are counted by what they are")
    func counts() async throws {
        try await Self.run { world in
            let claim = try PurchaseServerWorld.purchase()
            for _ in 0..<2 {
                #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
            }
            var forged = try MintedWorld.mint()
            forged[forged.count - 5] ^= 1
            let refused = try PurchaseServerWorld.purchase(receipt: forged)
            let refusal = try await world.send(.post, "/v1/purchases", refused, as: .client)
            let code = try #require(try refusal.problem)
            _ = try await world.send(.get, "/nowhere", as: nil)
            let metrics = try await world.metrics()
            let purchases = #"http_request_method="POST",http_route="/v1/purchases""#
            #expect(metrics[#"http_server_request_duration_seconds_count{\#(purchases),status_class="2xx"}"#] == 2)
            #expect(
                metrics[#"http_server_request_duration_seconds_bucket{\#(purchases),status_class="2xx",le="+Inf"}"#]
                    == 2)
            #expect(metrics[#"http_server_request_duration_seconds_count{\#(purchases),status_class="4xx"}"#] == 1)
            #expect(metrics[#"assay_refusals_total{code="\#(code)"}"#] == 1)
            #expect(metrics[#"assay_refusals_total{code="not_found"}"#] == 1)
            #expect(metrics[#"assay_verifications_total{evidence="app_receipt",code="verified"}"#] == 2)
            #expect(metrics[#"assay_verifications_total{evidence="app_receipt",code="\#(code)"}"#] == 1)
            #expect(metrics[#"assay_verification_duration_seconds_count{evidence="app_receipt"}"#] == 3)
            #expect(metrics[#"assay_claims_total{verdict="accepted",code="accepted"}"#] == 2)
            #expect(metrics[#"assay_claims_total{verdict="rejected",code="\#(code)"}"#] == 1)
            #expect(try #require(metrics["assay_database_commit_duration_seconds_count"]) >= 3)
            #expect(try #require(metrics["assay_database_batch_writes_sum"]) >= 3)
            #expect(metrics["assay_ready"] == 1)
            #expect(metrics[#"assay_connections_open{listener="admin"}"#] == 1)
            #expect(try #require(metrics["process_resident_memory_bytes"]) > 1_048_576)
            // This scrape is the one request that is being answered.
            #expect(metrics["http_server_active_requests"] == 1)
        }
    }

    @Test("verifyReceipt, notifications and what the database holds are counted")
    func others() async throws {
        try await Self.run { world in
            let receipt = Data(try MintedWorld.mint()).base64EncodedString()
            _ = try await world.send(
                .post, "/sandbox/verifyReceipt", data: Data(#"{"receipt-data":"\#(receipt)"}"#.utf8), as: nil)
            let notification = try MintedWorld.mint(
                NotificationTemplate.test(
                    bundleID: "com.example.other", environment: "Sandbox", signedDate: MintedWorld.moment))
            let body = NotificationRequest(signedPayload: String(decoding: notification, as: UTF8.self))
            let received = try await world.send(.post, "/notifications/v2", body, as: nil, idempotencyKey: nil)
            #expect(received.status == 404, "the notification is of no app")
            var metrics = try await world.metrics()
            #expect(metrics[#"assay_verifications_total{evidence="app_receipt",code="verified"}"#] == 1)
            #expect(metrics[#"assay_notifications_total{type="TEST",result="refused"}"#] == 1)
            // The task that reads them does so once in five seconds.
            while metrics["assay_journal_entries"] ?? 0 < 1 {
                try await Task.sleep(for: .milliseconds(50))
                metrics = try await world.metrics()
            }
            #expect(try #require(metrics["assay_database_size_bytes"]) > 4096)
            #expect(metrics["assay_database_wal_size_bytes"] != nil)
            #expect(metrics["assay_claims_waiting"] == 0)
            #expect(metrics[#"assay_app_store_circuit_open{api="server_api",environment="Production"}"#] == 0)
        }
    }

    @Test("A scrape asks the database nothing: it is answered while the database is closed, and says so")
    func closed() async throws {
        let folder = try FileManager.default.temporaryFolder()
        defer { FileManager.default.remove(folder) }
        var configuration = ServerConfiguration()
        configuration.port = 0
        configuration.admin = .port(host: "127.0.0.1", 0)
        configuration.database = "sqlite:\(folder.appending(path: "assay.sqlite").path)"
        configuration.record.folder = folder.path
        let server = try await startPurchaseServer(configuration, logger: PurchaseServerWorld.silent)
        let (addresses, opened) = AsyncStream.makeStream(of: String.self)
        do {
            try await server.application(onAdminReady: { opened.yield($0) }).live { _ in
                for await address in addresses {
                    let port = try #require(URL(string: address)?.port)
                    try await server.database.close()
                    let client = LiveClient(port: port)
                    var text = ""
                    while !text.contains("\nassay_ready 0\n") {
                        let answer = try await client.execute(uri: "/metrics", method: .get)
                        #expect(answer.status == .ok)
                        text = String(buffer: answer.body)
                        try await Task.sleep(for: .milliseconds(20))
                    }
                    break
                }
            }
        } catch let error as LedgerStorageError {
            // The server closes it again at its end.
            #expect(error.kind == .closed)
        }
    }

    @Test("A webhook's deliveries and delays are counted by app and host, never by its URL")
    func webhooks() async throws {
        // No server listens there.
        let url = try #require(WebhookURL("http://127.0.0.1:9/secret-path"))
        let secret = try #require(WebhookSecret("whsec_\(Data(repeating: 1, count: 32).base64EncodedString())"))
        try await Self.run {
            $0.webhooks = [Webhook(app: "example", url: url, secrets: [secret], allowedHosts: ["127.0.0.1"])]
        } _: { world in
            while try await world.ledger.answer(WebhookList(app: "example")).isEmpty {
                try await Task.sleep(for: .milliseconds(20))
            }
            let claim = try PurchaseServerWorld.purchase()
            #expect(try await world.send(.post, "/v1/purchases", claim, as: .client).status == 200)
            let labels = #"app="example",host="127.0.0.1",stream="events""#
            var metrics: [String: Double] = [:]
            while metrics[#"assay_webhook_attempts_total{\#(labels),result="connection_failed"}"#] ?? 0 < 1
                || metrics[#"assay_webhook_waiting_events{\#(labels)}"#] ?? 0 < 1
            {
                try await Task.sleep(for: .milliseconds(50))
                metrics = try await world.metrics()
            }
            #expect(metrics[#"assay_webhook_given_up_events{\#(labels)}"#] == 0)
            #expect(metrics[#"assay_webhook_disabled{\#(labels)}"#] == 0)
            #expect(metrics[#"assay_webhook_oldest_event_age_seconds{\#(labels)}"#] != nil)
            #expect(try await !world.ask("/metrics").text.contains("secret-path"))
        }
    }
}

/// The backend of swift-metrics.
@Suite("31.4 The registry of metrics")
struct MetricRegistryTests {
    @Test("Names follow OpenTelemetry, with the unit and the kind as Prometheus writes them, and are unique")
    func names() {
        #expect(ServerMetric.requestDuration.definition.name == "http_server_request_duration_seconds")
        #expect(ServerMetric.verifications.definition.name == "assay_verifications_total")
        #expect(ServerMetric.certificateEnd.definition.name == "assay_tls_certificate_end_timestamp_seconds")
        #expect(ServerMetric.processorTime.definition.name == "process_cpu_seconds_total")
        let names = ServerMetric.allCases.map(\.definition.name)
        #expect(Set(names).count == names.count && names.count > 30)
        for name in names {
            #expect(name.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == 0x5F }, "\(name)")
        }
    }

    @Test("Beyond the limit, every further combination of labels is one series")
    func cardinality() {
        let registry = MetricRegistry()
        let label = ServerMetric.refusals.rawValue
        for number in 0..<(MetricRegistry.limit + 500) {
            Metrics.Counter(label: label, dimensions: [("code", "\(number)")], factory: registry).increment()
        }
        let text = registry.text
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("assay_refusals_total") }
        #expect(lines.count == MetricRegistry.limit + 1 && lines.contains(#"assay_refusals_total{code="other"} 500"#))
        #expect(lines.contains(#"assay_refusals_total{code="0"} 1"#))
    }

    @Test("Values are in the text format: cumulative classes, escaped labels, and no metric that is not in the table")
    func text() {
        let registry = MetricRegistry()
        let timer = Metrics.Timer(
            label: ServerMetric.verificationDuration.rawValue, dimensions: [("evidence", "a\"b\\c\nd")],
            factory: registry)
        timer.recordNanoseconds(60_000)
        timer.recordNanoseconds(3_000_000_000)
        Metrics.Counter(label: "unknown", factory: registry).increment()
        let text = registry.text
        let labels = #"evidence="a\"b\\c\nd""#
        #expect(text.contains("# TYPE assay_verification_duration_seconds histogram\n"))
        for (bound, count) in [("5e-05", 0), ("0.0001", 1), ("0.25", 1), ("+Inf", 2)] {
            #expect(text.contains(#"assay_verification_duration_seconds_bucket{\#(labels),le="\#(bound)"} \#(count)"#))
        }
        #expect(text.contains(#"assay_verification_duration_seconds_count{\#(labels)} 2"#))
        #expect(text.contains(#"assay_verification_duration_seconds_sum{\#(labels)} 3.00006"#))
        #expect(!text.contains("unknown"))
    }
}
