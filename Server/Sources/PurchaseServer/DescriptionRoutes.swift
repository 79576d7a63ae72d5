import HTTPTypes
import Hummingbird
import NIOCore

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
