import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PurchaseConsole

/// The console for people, on the listener for operators only.
struct ConsoleRoutes {
    let console: Console
    let bodies: BodyReader

    func add(to router: Router<ServerContext>) {
        for method in [HTTPRequest.Method.get, .head, .post] {
            for path in ["/console", "/console/**"] {
                router.on(RouterPath(path), method: method) { request, context in
                    try await answer(request, context)
                }
            }
        }
    }

    private func answer(_ request: Request, _ context: ServerContext) async throws -> Response {
        let isPost = request.method == .post
        let form = isPost ? try await bodies.withBody(of: request) { String(decoding: $0, as: UTF8.self) } : ""
        let path = request.uri.path.split(separator: "/").dropFirst().joined(separator: "/")
        let answer = await console.respond(
            ConsoleRequest(
                isPost: isPost, path: path, query: request.uri.query ?? "", form: form,
                host: request.head.authority, origin: request.headers[.origin],
                fetchSite: Self.fetchSite.flatMap { request.headers[$0] }, cookies: request.headers[.cookie],
                address: context.remoteAddress ?? "socket",
                isSecure: Self.forwardedProtocol.flatMap { request.headers[$0] } == "https"))
        var response = Response(
            status: .init(code: answer.status), headers: [.contentType: answer.contentType],
            body: ResponseBody(byteBuffer: ByteBuffer(string: answer.body)))
        if let location = answer.location { response.headers[.location] = location }
        if let name = answer.fileName { response.headers[.contentDisposition] = "attachment; filename=\"\(name)\"" }
        if let cookie = answer.cookie { response.headers[.setCookie] = cookie }
        for field in ConsoleResponse.securityFields {
            if let name = HTTPField.Name(field.name) { response.headers[name] = field.value }
        }
        return response
    }

    private static let fetchSite = HTTPField.Name("Sec-Fetch-Site")
    /// A proxy with TLS says `https`. The cookie is then only for TLS; whoever sends the field without TLS gets a
    /// cookie that their browser does not keep.
    private static let forwardedProtocol = HTTPField.Name("X-Forwarded-Proto")
}
