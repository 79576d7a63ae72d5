import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import ServiceLifecycle

/// An answer of `verifyReceipt` with the fault of its transport.
struct FaultyAnswer {
    private let json: [UInt8]
    private let fault: TransportFault?
    private let channel: any Channel
    private let status: HTTPResponse.Status
    private let headers: HTTPFields

    /// - Parameters:
    ///   - json: the answer without a fault of transport.
    ///   - fault: the fault; nil for none.
    ///   - channel: the connection.
    init(
        _ json: [UInt8], _ fault: TransportFault?, _ channel: any Channel, status: HTTPResponse.Status = .ok,
        headers: HTTPFields = [.contentType: "application/json"]
    ) {
        self.json = json
        self.fault = fault
        self.channel = channel
        self.status = status
        self.headers = headers
    }

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
