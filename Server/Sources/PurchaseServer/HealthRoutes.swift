import AppStoreConnection
import HTTPTypes
import Hummingbird
import NIOCore
import PurchaseLedger

/// `GET /healthz`: the process is alive and answers. `GET /readyz`: the server can work, so the database accepts
/// writes. Neither waits for the database, nor for the threads that verify.
struct HealthRoutes {
    let readiness: ReadinessMonitor
    let limited: LimitedRequests
    let skew: ClockSkew

    func add(to router: Router<ServerContext>) {
        for method in [HTTPRequest.Method.get, .head] {
            router.on("/healthz", method: method) { _, _ in Self.response("ok") }
            router.on("/readyz", method: method) { _, _ in
                switch readiness.state {
                case .ready: return Self.response("ready", limited: limited.today, skew: skew.seconds)
                case .failed(let kind):
                    // After any error, the server cannot work.
                    throw Problem(.serviceUnavailable, kind.rawValue, kind.sentence, retryAfter: 1)
                case .unknown:
                    let kind = LedgerStorageError.Kind.unavailable
                    throw Problem(
                        .serviceUnavailable, kind.rawValue, kind.sentence,
                        expected:
                            "a check of the database in the last \(ReadinessMonitor.longestAge.components.seconds) s",
                        found: "none that ended", retryAfter: 1)
                }
            }
        }
    }

    private static func response(_ status: String, limited: [String: Int] = [:], skew: Double? = nil) -> Response {
        let counts = limited.sorted { $0.key < $1.key }.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",")
        let today = counts.isEmpty ? "" : #","limited_today":{\#(counts)}"#
        let clock = skew.map { #","app_store_clock_skew_seconds":\#(Int($0.rounded()))"# } ?? ""
        return Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: #"{"status":"\#(status)"\#(today)\#(clock)}"#)))
    }
}

/// `GET /openapi.yaml`: the description of all routes (OpenAPI 3.1).
struct DescriptionRoutes {
    /// All answers share its bytes.
    private static let document = ByteBuffer(bytes: PackageResources.openapi_yaml)

    func add(to router: Router<some RequestContext>) {
        for method in [HTTPRequest.Method.get, .head] {
            router.on("/openapi.yaml", method: method) { _, _ in
                Response(
                    status: .ok, headers: [.contentType: "application/yaml"],
                    body: ResponseBody(byteBuffer: Self.document))
            }
        }
    }
}
