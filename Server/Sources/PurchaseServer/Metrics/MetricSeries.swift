// The handlers of swift-metrics, one for each combination of labels.

import Metrics
import PurchaseLedger
import Synchronization

/// A series whose value is written out.
protocol MetricSeries: AnyObject, Sendable {
    var value: MetricSample.Value { get }
}

/// A number that only grows.
final class CounterSeries: MetricSeries, CounterHandler {
    private let count = Atomic<Int64>(0)

    var value: MetricSample.Value { .number(Double(count.load(ordering: .relaxed))) }

    func increment(by amount: Int64) { count.add(amount, ordering: .relaxed) }

    func reset() { count.store(0, ordering: .relaxed) }
}

/// A number that is set.
final class GaugeSeries: MetricSeries, MeterHandler {
    private let number = Mutex(0.0)

    var value: MetricSample.Value { .number(number.withLock { $0 }) }

    func set(_ value: Int64) { set(Double(value)) }

    func set(_ value: Double) { number.withLock { $0 = value } }

    func increment(by amount: Double) { number.withLock { $0 += amount } }

    func decrement(by amount: Double) { number.withLock { $0 -= amount } }
}

/// Values counted by size. Durations are in seconds.
final class HistogramSeries: MetricSeries, TimerHandler, RecorderHandler {
    private let distribution: Mutex<Distribution>

    init(bounds: [Double]) { distribution = Mutex(Distribution(bounds: bounds)) }

    var value: MetricSample.Value { .distribution(distribution.withLock { $0 }) }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) { distribution.withLock { $0.add(value) } }
}

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
