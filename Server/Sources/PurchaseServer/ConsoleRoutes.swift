import AppStoreConnection
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PurchaseConsole
import PurchaseLedger
import PurchaseVerification

/// The console for people, on the listener for operators only.
struct ConsoleRoutes {
    private let console: Console
    private let bodies: BodyReader

    /// - Returns: `nil` if a template is wrong, which is logged.
    init?(_ surroundings: ConsoleSurroundings, bodies: BodyReader, logger: Logger) {
        do {
            console = try Console(surroundings)
        } catch {
            logger.error("the templates of the console are wrong", metadata: ["error": "\(error)"])
            return nil
        }
        self.bodies = bodies
    }

    func add(to router: Router<ServerContext>) {
        // Who types only the address of the listener means the console.
        router.get("/") { _, _ in Response(status: .seeOther, headers: [.location: "/console"]) }
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
        let form = isPost ? try await bodies.withBody(of: request) { $0 } : []
        let path = request.uri.path.split(separator: "/").dropFirst().joined(separator: "/")
        let answer = await console.respond(
            ConsoleRequest(
                isPost: isPost, path: path, query: request.uri.query ?? "", form: form,
                formType: request.headers[.contentType],
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

extension ConsoleSurroundings {
    /// The parts of a server.
    init(
        ledger: @escaping @Sendable () -> PurchaseLedger, clock: @escaping @Sendable () -> Timestamp,
        record: ServerConfiguration.Record, orders: AppleOrders,
        hasWebhook: @escaping @Sendable (_ app: String, _ url: String) -> Bool, tools: ConsoleTools, logger: Logger
    ) {
        let keyFile = RecordKeys(record) { _ in }.signingKeyFile
        self.init(
            ledger: ledger, clock: clock, checkpoint: { try RecordKeys.lastSigned(keyFile: keyFile)?.checkpoint },
            appleOrder: { number, app in
                switch try await orders.find(number, app: app) {
                case .transactions(let ids): .transactions(ids)
                case .unknown: .unknown
                case .notConfigured: .notConfigured
                case .failed(let error): .noAnswer(error.code.rawValue)
                }
            },
            hasWebhook: hasWebhook,
            onFailure: { logger.error("a page of the console was not made", metadata: ["error": "\($0)"]) },
            tools: tools)
    }
}
