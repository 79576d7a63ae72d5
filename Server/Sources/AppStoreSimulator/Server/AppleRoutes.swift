import EvidenceMint
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOPosix
import PurchaseAPI
import ServiceLifecycle

/// The names of Apple's sandboxes. A client that only replaced Apple's address selects the environment with its header
/// `Host`, if the operator allows that host.
private enum AppleSandbox {
    static let verifyReceipt = [HostName(name: "sandbox.itunes.apple.com".utf8)]
    static let serverAPI = [
        HostName(name: "api.storekit-sandbox.apple.com".utf8),
        HostName(name: "api.storekit-sandbox.itunes.apple.com".utf8),
    ]
}

extension Request {
    /// The environment of a path without `/sandbox`.
    fileprivate func environment(_ sandboxHosts: [HostName?]) -> StoreEnvironment {
        let host = head.authority.flatMap { HostName(authority: $0.utf8) }
        return sandboxHosts.contains(host) ? .sandbox : .production
    }
}

extension Routes {
    /// `POST /verifyReceipt` (production) and `POST /sandbox/verifyReceipt`, with the requested faults.
    func addVerifyReceipt() {
        let service = service
        router.post("/verifyReceipt") { request, context in
            try await service.verifyReceipt(
                request, at: request.environment(AppleSandbox.verifyReceipt), context.channel)
        }
        router.post("/sandbox/verifyReceipt") { request, context in
            try await service.verifyReceipt(request, at: .sandbox, context.channel)
        }
        for method in [HTTPRequest.Method.get, .head, .put, .patch, .delete, .options] {
            for path in ["/verifyReceipt", "/sandbox/verifyReceipt"] {
                router.on(RouterPath(path), method: method) { request, _ in
                    Response.json(
                        bytes: request.method == .head ? [] : VerifyReceiptResponse(status: .notPosted).json())
                }
            }
        }
    }

    /// The App Store Server API. The paths of the sandbox begin with `/sandbox`.
    func addServerAPI() {
        let service = service
        for operation in ServerAPIOperation.allCases {
            let route = operation.row
            router.on(RouterPath(route.path), method: route.method) { request, context in
                try await service.serverAPI(
                    request, operation, at: request.environment(AppleSandbox.serverAPI), context)
            }
            router.on(RouterPath("/sandbox\(route.path)"), method: route.method) { request, context in
                try await service.serverAPI(request, operation, at: .sandbox, context)
            }
        }
    }
}

extension StoreService {
    nonisolated fileprivate func verifyReceipt(
        _ request: Request, at environment: StoreEnvironment, _ channel: any Channel
    ) async throws -> Response {
        // Apple's servers accept no chunked requests (docs/ask-apple.md).
        guard request.headers[.contentLength] != nil || request.headers[.transferEncoding] == nil else {
            return Response.json(bytes: VerifyReceiptResponse(status: .init(rawValue: 21199)).json())
        }
        // The content type is ignored: Apple's clients send JSON with several types.
        let buffer: ByteBuffer
        do {
            buffer = try await request.collectBody(upTo: SimulatorLimits.verifyReceiptBody)
        } catch is NIOTooManyBytesError {
            return Response.json(bytes: VerifyReceiptResponse(status: .malformed).json(), status: .contentTooLarge)
        }
        let body = Data(buffer.readableBytesView)
        let answer = try await change { state, world in
            try state.verifyReceipt(body, at: environment, by: issuer, world)
        }
        return try await FaultyAnswer(json: answer.json, fault: answer.fault?.transport, channel: channel)
            .response(to: request)
    }

    nonisolated fileprivate func serverAPI(
        _ request: Request, _ operation: ServerAPIOperation, at environment: StoreEnvironment,
        _ context: SimulatorRequestContext
    ) async throws -> Response {
        let body: ByteBuffer
        do {
            body = try await request.collectBody(upTo: SimulatorLimits.controlBody)
        } catch is NIOTooManyBytesError {
            return Response(status: .contentTooLarge)
        }
        let wanted = ServerAPIRequest(
            operation: operation, environment: environment, authorization: request.headers[.authorization],
            path: ["id", "second"].compactMap { context.parameters.get($0) },
            query: request.uri.queryParameters.map { (String($0.key), String($0.value)) },
            contentType: request.headers[.contentType], body: Array(body.readableBytesView))
        let answer = try await change { state, world in try state.answer(wanted, by: issuer, world) }
        var headers = HTTPFields()
        var bytes: [UInt8] = []
        if let json = answer.json {
            // Exactly this: Apple's library for Python reads no error otherwise.
            headers[.contentType] = "application/json"
            bytes = json.json
        } else if let fault = answer.tokenFault {
            headers[.contentType] = "text/plain"
            headers[.assayReason] = fault.rawValue
            bytes = Array("Unauthenticated\n\nRequest ID: \(UUID().uuidString)\n".utf8)
        }
        if let retryAfter = answer.retryAfter { headers[.retryAfter] = "\(retryAfter)" }
        return try await FaultyAnswer(
            json: bytes, fault: answer.fault?.transport, channel: context.channel,
            status: .init(code: answer.status), headers: headers
        ).response(to: request)
    }
}

/// An answer of Apple's servers with the fault of its transport.
struct FaultyAnswer {
    /// Without a fault of transport.
    let json: [UInt8]
    /// Nil for none.
    let fault: TransportFault?
    /// The connection.
    let channel: any Channel
    var status = HTTPResponse.Status.ok
    var headers: HTTPFields = [.contentType: "application/json"]

    /// The time between the halves of a slow body.
    private static let slowBody = 60_000
    /// The time of a connection without an answer.
    private static let silence = 600_000
    /// More than a client may read: 32 MiB and a byte.
    private static let hugeBody = 32 << 20 + 1

    func response(to request: Request) async throws -> Response {
        if let milliseconds = fault?.milliseconds, fault?.kind != .slowBody, fault?.kind != .silence {
            try await Self.wait(milliseconds)
        }
        switch fault?.kind {
        case .reset:
            try await reset()
            return whole([])
        case .silence:
            do {
                try await Self.wait(fault?.milliseconds ?? Self.silence)
            } catch is CancellationError {
                // The store stops.
            }
            try await channel.close().get()
            return whole([])
        case .outage:
            return Response(
                status: .serviceUnavailable, headers: [.contentType: "text/html", .retryAfter: "30"],
                body: Self.page("503 Service Unavailable"))
        case .redirect:
            return Response(status: .temporaryRedirect, headers: [.location: request.head.path ?? "/verifyReceipt"])
        case .html:
            return Response(status: .ok, headers: [.contentType: "text/html"], body: Self.page("We will be back soon"))
        case .brokenJSON: return whole(Array(json.prefix(json.count / 2)))
        case .slowBody: return slow()
        case .hugeBody: return huge()
        case .closedBody: return closed()
        case nil: return whole(json)
        }
    }

    /// Waits, but not longer than the store runs: it answers what it has begun before it stops.
    private static func wait(_ milliseconds: Int) async throws {
        try await cancelWhenGracefulShutdown { try await Task.sleep(for: .milliseconds(milliseconds)) }
    }

    private func whole(_ json: [UInt8]) -> Response {
        Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: json)))
    }

    private static func page(_ text: String) -> ResponseBody {
        ResponseBody(byteBuffer: ByteBuffer(string: "<html><body><h1>\(text)</h1></body></html>"))
    }

    private func slow() -> Response {
        let (json, milliseconds) = (json, fault?.milliseconds ?? Self.slowBody)
        let body = ResponseBody(contentLength: json.count) { writer in
            try await writer.write(ByteBuffer(bytes: json.prefix(json.count / 2)))
            try await Self.wait(milliseconds)
            try await writer.write(ByteBuffer(bytes: json.dropFirst(json.count / 2)))
            try await writer.finish(nil)
        }
        return Response(status: status, headers: headers, body: body)
    }

    /// A valid answer of unlimited length, so that only its size is wrong.
    private func huge() -> Response {
        let size = fault?.bytes ?? Self.hugeBody
        let body = ResponseBody { writer in
            let start = Array(#"{"status":0,"padding":""#.utf8)
            let end = Array(#""}"#.utf8)
            try await writer.write(ByteBuffer(bytes: start))
            var left = max(0, size - start.count - end.count)
            while left > 0 {
                let piece = min(left, 1 << 16)
                try await writer.write(ByteBuffer(repeating: UInt8(ascii: "A"), count: piece))
                left -= piece
            }
            try await writer.write(ByteBuffer(bytes: end))
            try await writer.finish(nil)
        }
        return Response(status: status, headers: headers, body: body)
    }

    private func closed() -> Response {
        let channel = channel
        let body = ResponseBody(contentLength: max(1, json.count)) { writer in
            // The head is sent with the first piece.
            try await writer.write(ByteBuffer())
            try await channel.close().get()
            throw ChannelError.ioOnClosedChannel
        }
        return Response(status: status, headers: headers, body: body)
    }

    /// Closes the connection so that the other side sees a reset, not an end.
    private func reset() async throws {
        if let options = channel as? any SocketOptionProvider {
            try await options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        try await channel.close().get()
    }
}
