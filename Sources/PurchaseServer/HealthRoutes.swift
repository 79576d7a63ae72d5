import HTTPTypes
import Hummingbird
import NIOCore

/// `GET /healthz`: the process is alive and answers.
struct HealthRoutes {
    func add(to router: Router<some RequestContext>) {
        for method in [HTTPRequest.Method.get, .head] {
            router.on("/healthz", method: method) { _, _ in
                Response(
                    status: .ok, headers: [.contentType: "application/json"],
                    body: ResponseBody(byteBuffer: ByteBuffer(string: #"{"status":"ok"}"#)))
            }
        }
    }
}
