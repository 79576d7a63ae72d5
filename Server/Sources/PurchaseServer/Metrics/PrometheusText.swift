import PurchaseLedger

/// The text format of Prometheus, version 0.0.4.
package struct PrometheusText {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private var lines: [String] = []

    /// All metrics in the order of `ServerMetric`, also those without a value.
    static func text(_ samples: [MetricSample]) -> String {
        let samples = Dictionary(grouping: samples, by: \.metric)
        var text = PrometheusText()
        for metric in ServerMetric.allCases {
            let definition = metric.definition
            text.lines.append("# HELP \(definition.name) \(escaped(help: definition.meaning))")
            text.lines.append("# TYPE \(definition.name) \(definition.type)")
            for sample in samples[metric, default: []].sorted(by: { $0.labels.lexicographicallyPrecedes($1.labels) }) {
                text.add(sample, definition)
            }
        }
        return text.lines.joined(separator: "\n") + "\n"
    }

    private mutating func add(_ sample: MetricSample, _ definition: MetricDefinition) {
        let labels = zip(definition.labels, sample.labels).map { #"\#($0)="\#(Self.escaped(label: $1))""# }
        switch sample.value {
        case .number(let number): add(definition.name, labels, number)
        case .distribution(let distribution):
            var count = 0
            for (bound, values) in zip(distribution.bounds.map { Self.number($0) } + ["+Inf"], distribution.counts) {
                count += values
                add("\(definition.name)_bucket", labels + [#"le="\#(bound)""#], Double(count))
            }
            add("\(definition.name)_sum", labels, distribution.sum)
            add("\(definition.name)_count", labels, Double(count))
        }
    }

    private mutating func add(_ name: String, _ labels: [String], _ number: Double) {
        let labels = labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
        lines.append("\(name)\(labels) \(Self.number(number))")
    }

    private static func number(_ number: Double) -> String {
        // Exact up to 2⁵³, and without a fraction that says nothing.
        number == number.rounded() && abs(number) < 9e15 ? "\(Int64(number))" : "\(number)"
    }

    private static func escaped(label: String) -> String {
        escaped(help: label).replacing("\"", with: #"\""#)
    }

    private static func escaped(help: String) -> String {
        help.replacing(#"\"#, with: #"\\"#).replacing("\n", with: #"\n"#)
    }
}

/// A metric: its name, kind, unit, meaning and labels.
package struct MetricDefinition: Sendable {
    /// Its name in swift-metrics.
    package let label: String
    package let kind: Kind
    package let unit: Unit
    /// Its meaning, as a sentence without a full stop.
    package let meaning: String
    /// The names of its labels.
    package let labels: [String]

    package enum Kind: Sendable, Equatable {
        case counter
        /// A counter whose value is read elsewhere.
        case total
        case gauge
        /// Values counted by size, with the largest value of each class but the last; none if they are read elsewhere.
        case histogram([Double])
    }

    package enum Unit: String, Sendable {
        case none = ""
        case seconds
        case bytes
        /// Seconds since 1970.
        case timestamp = "timestamp_seconds"
    }

    init(_ metric: ServerMetric, _ kind: Kind, _ unit: Unit, _ meaning: String, _ labels: [String] = []) {
        (label, self.kind, self.unit, self.meaning, self.labels) = (metric.rawValue, kind, unit, meaning, labels)
    }

    /// Its name in the Prometheus text format: the unit is a suffix, and a counter ends in `_total`.
    package var name: String {
        var parts = [label.replacing(".", with: "_")]
        if unit != .none { parts.append(unit.rawValue) }
        if kind == .counter || kind == .total { parts.append("total") }
        return parts.joined(separator: "_")
    }

    /// Its type in the Prometheus text format.
    package var type: String {
        switch kind {
        case .counter, .total: "counter"
        case .gauge: "gauge"
        case .histogram: "histogram"
        }
    }
}
