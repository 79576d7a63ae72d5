import HTTPTypes
import Hummingbird
import NIOCore
import PurchaseLedger

/// `GET /healthz`: the process is alive and answers. `GET /readyz`: the server can work, so the database accepts
/// writes.
struct HealthRoutes {
    let ledger: PurchaseLedger?
    /// The check writes to the database and needs no key. Ten requests a second are more than any monitor sends.
    private let probes: RateLimiter

    init(ledger: PurchaseLedger?, uptime: @escaping @Sendable () -> Double) {
        self.ledger = ledger
        probes = RateLimiter(RateLimit(perSecond: 10, burst: 20), uptime: uptime)
    }

    func add(to router: Router<ServerContext>) {
        for method in [HTTPRequest.Method.get, .head] {
            router.on("/healthz", method: method) { _, _ in Self.response("ok") }
            router.on("/readyz", method: method) { _, context in
                try probes.require(context.limitedAddress, "this address")
                do {
                    try await ledger?.perform(ProbeReadiness())
                } catch let error as LedgerStorageError {
                    // After any error, the server cannot work.
                    throw Problem(.serviceUnavailable, error.kind.rawValue, error.kind.sentence, retryAfter: 1)
                }
                return Self.response("ready")
            }
        }
    }

    private static func response(_ status: String) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: #"{"status":"\#(status)"}"#)))
    }
}
