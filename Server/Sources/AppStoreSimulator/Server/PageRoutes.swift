import EvidenceMint
import HTTPConnections
import HTTPTypes
import Hummingbird
import NIOCore

/// The routes that are the same for every caller: the page, the OpenAPI document, and the certificates to trust.
struct PageRoutes {
    let authority: AppStoreAuthority

    /// All answers share the bytes of a document.
    private static let page = ByteBuffer(bytes: PackageResources.page_html)
    private static let style = ByteBuffer(string: PageStyle.text)
    private static let description = ByteBuffer(bytes: PackageResources.simulator_openapi_yaml)

    func add(to router: Router<SimulatorRequestContext>) {
        router.get("/") { _, _ in
            Self.response(Self.page, "text/html; charset=utf-8", policy: true)
        }
        router.get("/style.css") { _, _ in
            Self.response(Self.style, "text/css; charset=utf-8")
        }
        router.get("/openapi.yaml") { _, _ in
            Self.response(Self.description, "application/yaml")
        }
        let certificates = ByteBuffer(string: authority.trustedCertificatesPEM)
        router.get("/trust.pem") { _, _ in
            Self.response(certificates, "application/x-pem-file")
        }
        // app-store-server-library takes roots in DER only. The path is that of the file in the authority's folder.
        let root = ByteBuffer(bytes: authority.signedPayload.root.certificate)
        router.get("/signed-data/root.der") { _, _ in
            Self.response(root, "application/pkix-cert")
        }
        router.get("/healthz") { _, _ in
            Self.response(ByteBuffer(string: #"{"status":"ok"}"#), "application/json")
        }
    }

    private static func response(_ bytes: ByteBuffer, _ contentType: String, policy: Bool = false) -> Response {
        var headers: HTTPFields = [.contentType: contentType]
        if policy {
            // The page loads nothing from other origins, and must not be framed.
            headers[.contentSecurityPolicy] =
                "default-src 'none'; script-src 'unsafe-inline'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
                + "img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
        }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: bytes))
    }
}
