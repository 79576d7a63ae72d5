public import HTTPTypes
public import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOPosix

/// A client of a server that runs in this process, over real HTTP.
///
/// Each request has its own connection, so that parallel requests are parallel and none uses a connection that the
/// server closed as idle. It waits for minutes: the tests share few threads, and an answer may be queued behind many of
/// them.
public struct LiveClient: Sendable {
    /// The address of the server, on 127.0.0.1.
    public let port: Int

    /// A client of the server on a port.
    public init(port: Int) { self.port = port }

    /// Sends a request and waits for its answer.
    public func execute(
        uri: String, method: HTTPRequest.Method, headers: HTTPFields = [:], body: ByteBuffer? = nil
    ) async throws -> LiveResponse {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(HTTP1ToHTTPClientCodec())
                    return try NIOAsyncChannel<HTTPResponsePart, HTTPRequestPart>(wrappingChannelSynchronously: channel)
                }
            }
        let connection = channel.channel
        let deadline = connection.eventLoop.scheduleTask(in: .minutes(10)) { connection.close(promise: nil) }
        defer { deadline.cancel() }
        var head = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: uri, headerFields: headers)
        head.headerFields[.connection] = "close"
        if let body, head.headerFields[.contentLength] == nil {
            head.headerFields[.contentLength] = "\(body.readableBytes)"
        }
        let request = head
        return try await channel.executeThenClose { inbound, outbound in
            do {
                try await outbound.write(.head(request))
                if let body { try await outbound.write(.body(body)) }
                try await outbound.write(.end(nil))
            } catch let error as ChannelError where error == .ioOnClosedChannel {
                // The server has answered already, perhaps from the head alone, and closed.
            }
            var answer: LiveResponse?
            for try await part in inbound {
                switch part {
                case .head(let head) where head.status.kind == .informational: continue
                case .head(let head):
                    answer = LiveResponse(status: head.status, headers: head.headerFields, body: ByteBuffer())
                case .body(var bytes): answer?.body.writeBuffer(&bytes)
                case .end:
                    guard let answer else { break }
                    return answer
                }
            }
            throw ConnectionClosed()
        }
    }

    /// The server closed the connection before its answer was complete.
    struct ConnectionClosed: Error {}
}

/// The answer of a server.
public struct LiveResponse: Sendable {
    public let status: HTTPResponse.Status
    public let headers: HTTPFields
    public internal(set) var body: ByteBuffer
}
