import EvidenceMint
import Foundation
import HTTPConnections
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import PurchaseAPI

/// A request's context, with the connection it came on: a fault may have to break it.
struct SimulatorRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }
}

/// The tables of routes. Each route is a path, the members that its body may have, and what it reads of the state or
/// changes in it.
struct Routes {
    /// What a route gets beside the state and the body.
    struct Call: Sendable {
        /// The variable part of the path; empty without one.
        let id: String
        let uri: URI
        let issuer: EvidenceIssuer
        /// The real time.
        let world: Date

        init(_ request: Request, _ context: SimulatorRequestContext, _ service: StoreService, world: Date = Date()) {
            id = context.parameters.get("id") ?? ""
            (uri, issuer, self.world) = (request.uri, service.issuer, world)
        }

        /// A required parameter of the query.
        func query(_ name: Substring) throws -> String {
            guard let value = uri.queryParameters[name], !value.isEmpty else {
                throw StoreError(.invalidValue, "The query needs '\(name)'.")
            }
            return String(value)
        }

        /// The number of an event in the path.
        /// - Parameter example: a path that has one.
        func number(_ example: String) throws -> Int {
            guard let number = Int(id) else {
                throw StoreError(.unknownEvent, "The path needs the number of an event, such as \(example).")
            }
            return number
        }
    }

    let router: Router<SimulatorRequestContext>
    let service: StoreService

    func get<Answer: Encodable & Sendable>(
        _ path: String, _ answer: @escaping @Sendable (inout ServiceState, Call) throws -> Answer
    ) {
        let service = service
        router.get(RouterPath(path)) { request, context in try await service.answer(request, context, answer) }
    }

    func delete<Answer: Encodable & Sendable>(
        _ path: String, _ answer: @escaping @Sendable (inout ServiceState, Call) throws -> Answer
    ) {
        let service = service
        router.delete(RouterPath(path)) { request, context in try await service.answer(request, context, answer) }
    }

    /// A change without a body.
    func post<Answer: Encodable & Sendable>(
        _ path: String, _ answer: @escaping @Sendable (inout ServiceState, Call) throws -> Answer
    ) {
        let service = service
        router.post(RouterPath(path)) { request, context in
            try request.requireJSON()
            return try await service.answer(request, context, answer)
        }
    }

    /// A change by a body that has some of the members.
    func post<Answer: Encodable & Sendable>(
        _ path: String, _ members: [BodyMember], _ status: HTTPResponse.Status = .ok,
        _ answer: @escaping @Sendable (inout ServiceState, RequestBody, Call) throws -> Answer
    ) {
        let service = service
        router.post(RouterPath(path)) { request, context in
            let json = try await request.json(members)
            return try await service.answer(request, context, status: status) { state, call in
                try answer(&state, try StoreJSON.decode(RequestBody.self, from: json), call)
            }
        }
    }
}

extension StoreService {
    /// The answer that a route reads of the state or makes by a change.
    nonisolated func answer<Answer: Encodable & Sendable>(
        _ request: Request, _ context: SimulatorRequestContext, status: HTTPResponse.Status = .ok,
        _ answer: @Sendable (inout ServiceState, Routes.Call) throws -> Answer
    ) async throws -> Response {
        try Response.json(
            await change { state, world in
                try answer(&state, Routes.Call(request, context, self, world: world))
            }, status: status)
    }
}

extension Request {
    /// Reads a JSON body of at most 1 MiB; an empty one is an object without members.
    ///
    /// The content type is required: a page of another origin cannot send it without a preflight request, which is
    /// refused.
    func json(_ members: [BodyMember]) async throws -> Data {
        try requireJSON()
        let buffer = try await collectBody(upTo: SimulatorLimits.controlBody)
        guard buffer.readableBytes > 0 else { return Data("{}".utf8) }
        try WrittenJSON.checkLimits(of: Array(buffer.readableBytesView))
        let json = Data(buffer.readableBytesView)
        try RequestBody.check(json, has: members)
        return json
    }

    func read(_ members: [BodyMember]) async throws -> RequestBody {
        try StoreJSON.decode(RequestBody.self, from: try await json(members))
    }

    /// Collects the body. If the announced length is over the limit, the request is refused without reading the body.
    ///
    /// - Throws: `NIOTooManyBytesError`.
    func collectBody(upTo limit: Int) async throws -> ByteBuffer {
        if let announced = headers[.contentLength], UInt64(announced).map({ $0 > UInt64(limit) }) ?? true {
            throw NIOTooManyBytesError(maxBytes: limit)
        }
        return try await body.collect(upTo: limit)
    }

    func requireJSON() throws {
        let json = "application/json".utf8
        guard headers[.contentType]?.utf8.prefix(json.count).elementsEqual(json, by: { $0 | 0x20 == $1 }) == true else {
            throw HTTPError(.unsupportedMediaType, message: "Send 'Content-Type: application/json'.")
        }
    }
}

extension Response {
    /// An answer of the control API.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        json(bytes: try StoreJSON.encode(value), status: status)
    }

    static func json(bytes: some Sequence<UInt8>, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

/// All answers share the bytes of a document.
private let page = ByteBuffer(bytes: PackageResources.page_html)
private let style = ByteBuffer(string: PageStyle.text)
private let description = ByteBuffer(bytes: PackageResources.simulator_openapi_yaml)

extension Routes {
    /// The routes that are the same for every caller: the page, the OpenAPI document, and the certificates to trust.
    func addPage(_ authority: AppStoreAuthority) {
        router.get("/") { _, _ in Self.response(page, "text/html; charset=utf-8", policy: true) }
        router.get("/style.css") { _, _ in Self.response(style, "text/css; charset=utf-8") }
        router.get("/openapi.yaml") { _, _ in Self.response(description, "application/yaml") }
        let certificates = ByteBuffer(string: authority.trustedCertificatesPEM)
        router.get("/trust.pem") { _, _ in Self.response(certificates, "application/x-pem-file") }
        // app-store-server-library takes roots in DER only. The path is that of the file in the authority's folder.
        let root = ByteBuffer(bytes: authority.signedPayload.root.certificate)
        router.get("/signed-data/root.der") { _, _ in Self.response(root, "application/pkix-cert") }
        router.get("/healthz") { _, _ in Self.response(ByteBuffer(string: #"{"status":"ok"}"#), "application/json") }
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
