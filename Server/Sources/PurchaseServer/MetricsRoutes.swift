import HTTPTypes
import Hummingbird
import NIOCore

/// `GET /metrics`, on the listener for operators only: the text format of Prometheus.
struct MetricsRoutes {
    let metrics: ServerMetrics
    let readings: ServerReadings

    func add(to router: Router<ServerContext>) {
        for method in [HTTPRequest.Method.get, .head] {
            router.on("/metrics", method: method) { _, _ in
                Response(
                    status: .ok, headers: [.contentType: PrometheusText.contentType],
                    body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text(readings.samples))))
            }
        }
    }
}
