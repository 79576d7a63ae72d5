import EvidenceMint
import Foundation
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

    /// A part of the path.
    func part(_ name: String) throws -> String {
        try parameters.require(name)
    }
}

extension Request {
    /// Reads a JSON body of at most 1 MiB.
    ///
    /// The content type is required: a page of another origin cannot send it without a preflight request, which is
    /// refused.
    func read<Value: RequestBody>(_ type: Value.Type) async throws -> Value {
        try requireJSON()
        let buffer = try await collectBody(upTo: SimulatorLimits.controlBody)
        guard buffer.readableBytes > 0 else { return try StoreJSON.decode(type, from: Data("{}".utf8)) }
        try WrittenJSON.checkLimits(of: Array(buffer.readableBytesView))
        let json = Data(buffer.readableBytesView)
        try Value.checkMembers(of: json)
        return try StoreJSON.decode(type, from: json)
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
        let isJSON = headers[.contentType]?.utf8.prefix(Self.json.utf8.count).elementsEqual(Self.json.utf8) {
            $0 | 0x20 == $1
        }
        guard isJSON == true else {
            throw HTTPError(.unsupportedMediaType, message: "Send 'Content-Type: application/json'.")
        }
    }
}

extension Request {
    private static let json = "application/json"
}

/// Routes whose answers are JSON: a path, and what it reads of the state or changes in it.
struct StateRoutes {
    /// What a route gets beside the state and the body.
    struct Call: Sendable {
        /// The variable part of the path; empty without one.
        let id: String
        let uri: URI
        let issuer: EvidenceIssuer
        /// The real time.
        let world: Date

        /// A required parameter of the query.
        func query(_ name: Substring) throws -> String { try uri.query(name) }
    }

    let router: Router<SimulatorRequestContext>
    let service: StoreService

    func get<Answer: Encodable & Sendable>(
        _ path: String, _ answer: @escaping @Sendable (inout ServiceState, Call) throws -> Answer
    ) {
        let service = service
        router.get(RouterPath(path)) { request, context in try await service.answer(request, context, answer) }
    }

    /// A change without parameters.
    func change<Answer: Encodable & Sendable>(
        _ path: String, _ answer: @escaping @Sendable (inout ServiceState, Call) throws -> Answer
    ) {
        let service = service
        router.post(RouterPath(path)) { request, context in
            try request.requireJSON()
            return try await service.answer(request, context, answer)
        }
    }

    /// A change by a body, which is checked before the state is looked at.
    func post<Body: RequestBody, Answer: Encodable & Sendable>(
        _ path: String, _ type: Body.Type, _ status: HTTPResponse.Status = .ok,
        check: @escaping @Sendable (Body) throws -> Void = { _ in },
        _ answer: @escaping @Sendable (inout ServiceState, Body, Call) throws -> Answer
    ) {
        let service = service
        router.post(RouterPath(path)) { request, context in
            let body = try await request.read(type)
            try check(body)
            return try await service.answer(request, context, status: status) { state, call in
                try answer(&state, body, call)
            }
        }
    }
}

extension StoreService {
    /// The answer that a route reads of the state or makes by a change.
    nonisolated func answer<Answer: Encodable & Sendable>(
        _ request: Request, _ context: SimulatorRequestContext, status: HTTPResponse.Status = .ok,
        _ answer: @Sendable (inout ServiceState, StateRoutes.Call) throws -> Answer
    ) async throws -> Response {
        let (id, uri, issuer) = (context.parameters.get("id") ?? "", request.uri, issuer)
        return try Response.json(
            await change { state, world in
                try answer(&state, StateRoutes.Call(id: id, uri: uri, issuer: issuer, world: world))
            }, status: status)
    }
}

extension URI {
    /// A required parameter of the query.
    func query(_ name: Substring) throws -> String {
        guard let value = queryParameters[name], !value.isEmpty else {
            throw StoreError(.invalidValue, "The query needs '\(name)'.")
        }
        return String(value)
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
