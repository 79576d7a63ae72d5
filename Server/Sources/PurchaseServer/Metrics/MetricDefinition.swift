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
