import HTTPTypes
import Hummingbird
import NIOCore
import PurchaseLedger

/// `GET /healthz`: the process is alive and answers. `GET /readyz`: it can do its work, so the database takes what it writes.
struct HealthRoutes {
    let ledger: PurchaseLedger?

    func add(to router: Router<some RequestContext>) {
        for method in [HTTPRequest.Method.get, .head] {
            router.on("/healthz", method: method) { _, _ in Self.response("ok") }
            router.on("/readyz", method: method) { _, _ in
                try await ledger?.requireWritable()
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
