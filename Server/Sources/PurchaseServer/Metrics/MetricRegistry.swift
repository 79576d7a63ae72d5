package import Metrics
import Synchronization

/// A backend of swift-metrics that keeps the series of `ServerMetric` in memory. Other metrics are not kept.
///
/// The number of series is bounded: beyond `limit` of a metric, all further combinations of labels are one series with
/// `other` in each label.
package final class MetricRegistry: MetricsFactory {
    /// The most series of a metric: the routes of a server, each with some methods and five classes of status, are 400.
    package static let limit = 1000

    private static let metrics = Dictionary(
        uniqueKeysWithValues: ServerMetric.allCases.map { ($0.rawValue, ($0, $0.definition)) })

    private let series = Mutex<[ServerMetric: [[String]: any MetricSeries]]>([:])

    package init() {}

    /// The series of all metrics.
    var samples: [MetricSample] {
        series.withLock { series in
            series.flatMap { metric, series in
                series.map { labels, series in MetricSample(metric, labels, series.value) }
            }
        }
    }

    /// The series in the text format of Prometheus.
    package var text: String { PrometheusText.text(samples) }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        let none: any CounterHandler = NOOPMetricsHandler.instance
        return make(label, dimensions, none) { _ in CounterSeries() }
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        let none: any MeterHandler = NOOPMetricsHandler.instance
        return make(label, dimensions, none) { _ in GaugeSeries() }
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate _: Bool) -> any RecorderHandler {
        let none: any RecorderHandler = NOOPMetricsHandler.instance
        return make(label, dimensions, none) { HistogramSeries(bounds: $0) }
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let none: any TimerHandler = NOOPMetricsHandler.instance
        return make(label, dimensions, none) { HistogramSeries(bounds: $0) }
    }

    // A series stays when its instrument goes: the values of a counter must not go back.

    package func destroyCounter(_: any CounterHandler) {}
    package func destroyMeter(_: any MeterHandler) {}
    package func destroyRecorder(_: any RecorderHandler) {}
    package func destroyTimer(_: any TimerHandler) {}

    /// The series with these labels.
    ///
    /// - Parameters:
    ///   - none: the handler of a metric that is not kept.
    ///   - create: makes a series, with the bounds of a histogram.
    private func make<Handler: Sendable>(
        _ label: String, _ dimensions: [(String, String)], _ none: Handler, _ create: ([Double]) -> any MetricSeries
    ) -> Handler {
        guard let (metric, definition) = Self.metrics[label] else { return none }
        var labels = definition.labels.map { name in dimensions.first { $0.0 == name }?.1 ?? "" }
        let bounds = if case .histogram(let bounds) = definition.kind { bounds } else { [Double]() }
        return series.withLock { series in
            if series[metric]?[labels] == nil, series[metric]?.count ?? 0 >= Self.limit {
                labels = labels.map { _ in "other" }
            }
            let found = series[metric]?[labels] ?? create(bounds)
            series[metric, default: [:]][labels] = found
            // Of another kind if two instruments of one metric differ, which is an error in this module.
            return found as? Handler ?? none
        }
    }
}
