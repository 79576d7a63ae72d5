import Metrics
import PurchaseServer
import Testing

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
        #expect(lines.count == MetricRegistry.limit + 1)
        #expect(lines.contains(#"assay_refusals_total{code="other"} 500"#))
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
            #expect(
                text.contains(#"assay_verification_duration_seconds_bucket{\#(labels),le="\#(bound)"} \#(count)"#))
        }
        #expect(text.contains(#"assay_verification_duration_seconds_count{\#(labels)} 2"#))
        #expect(text.contains(#"assay_verification_duration_seconds_sum{\#(labels)} 3.00006"#))
        #expect(!text.contains("unknown"))
    }
}
