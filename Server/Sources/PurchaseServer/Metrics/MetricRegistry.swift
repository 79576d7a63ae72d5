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
        series(label, dimensions) { _ in CounterSeries() } as? any CounterHandler ?? NOOPMetricsHandler.instance
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions) { _ in GaugeSeries() } as? any MeterHandler ?? NOOPMetricsHandler.instance
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate _: Bool) -> any RecorderHandler {
        series(label, dimensions) { HistogramSeries(bounds: $0) } as? any RecorderHandler
            ?? NOOPMetricsHandler.instance
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions) { HistogramSeries(bounds: $0) } as? any TimerHandler ?? NOOPMetricsHandler.instance
    }

    // A series stays when its instrument goes: the values of a counter must not go back.

    package func destroyCounter(_: any CounterHandler) {}
    package func destroyMeter(_: any MeterHandler) {}
    package func destroyRecorder(_: any RecorderHandler) {}
    package func destroyTimer(_: any TimerHandler) {}

    /// The series with these labels; `nil` for a metric that is not kept. It is of another kind than asked for if two
    /// instruments of one metric differ, which is an error in this module.
    ///
    /// - Parameter create: makes a series, with the bounds of a histogram.
    private func series(
        _ label: String, _ dimensions: [(String, String)], _ create: ([Double]) -> any MetricSeries
    ) -> (any MetricSeries)? {
        guard let (metric, definition) = Self.metrics[label] else { return nil }
        var labels = definition.labels.map { name in dimensions.first { $0.0 == name }?.1 ?? "" }
        let bounds = if case .histogram(let bounds) = definition.kind { bounds } else { [Double]() }
        return series.withLock { series in
            if series[metric]?[labels] == nil, series[metric]?.count ?? 0 >= Self.limit {
                labels = labels.map { _ in "other" }
            }
            let found = series[metric]?[labels] ?? create(bounds)
            series[metric, default: [:]][labels] = found
            return found
        }
    }
}
