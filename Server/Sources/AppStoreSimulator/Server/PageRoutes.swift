import EvidenceMint
import HTTPTypes
import Hummingbird
import NIOCore

/// The routes that are the same for every caller: the page, the OpenAPI document, and the certificates to trust.
struct PageRoutes {
    let authority: AppStoreAuthority

    func add(to router: Router<SimulatorRequestContext>) {
        router.get("/") { _, _ in
            Self.response(PackageResources.page_html, "text/html; charset=utf-8", policy: true)
        }
        router.get("/openapi.yaml") { _, _ in
            Self.response(PackageResources.simulator_openapi_yaml, "application/yaml")
        }
        let certificates = Array(authority.trustedCertificatesPEM.utf8)
        router.get("/trust.pem") { _, _ in
            Self.response(certificates, "application/x-pem-file")
        }
        // app-store-server-library takes roots in DER only. The path is that of the file in the authority's folder.
        let root = authority.signedPayload.root.certificate
        router.get("/signed-data/root.der") { _, _ in
            Self.response(root, "application/pkix-cert")
        }
        router.get("/healthz") { _, _ in
            Self.response(Array(#"{"status":"ok"}"#.utf8), "application/json")
        }
    }

    private static func response(_ bytes: [UInt8], _ contentType: String, policy: Bool = false) -> Response {
        var headers: HTTPFields = [.contentType: contentType]
        if policy {
            // The page loads nothing from other origins, and must not be framed.
            headers[.contentSecurityPolicy] =
                "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; "
                + "img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
        }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
