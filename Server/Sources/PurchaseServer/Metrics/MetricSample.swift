import PurchaseLedger

/// A value of a metric.
struct MetricSample: Sendable {
    let metric: ServerMetric
    /// The values of its labels, in their order.
    let labels: [String]
    let value: Value

    enum Value: Sendable {
        case number(Double)
        case distribution(Distribution)
    }

    init(_ metric: ServerMetric, _ labels: [String], _ value: Value) {
        (self.metric, self.labels, self.value) = (metric, labels, value)
    }

    init(_ metric: ServerMetric, _ labels: [String], _ number: Double) {
        self.init(metric, labels, .number(number))
    }

    init(_ metric: ServerMetric, _ number: Double) { self.init(metric, [], .number(number)) }

    init(_ metric: ServerMetric, _ distribution: Distribution) { self.init(metric, [], .distribution(distribution)) }
}
