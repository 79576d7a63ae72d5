import EvidenceMint
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// A client for one server over plain HTTP/1.1, with a connection for each request.
struct AttackClient: Sendable {
    let host: String
    let port: Int

    /// What was answered.
    struct Answer: Sendable {
        let status: Int
        let body: Data
    }

    /// - Parameter address: `http://HOST:PORT`, with nothing behind it.
    init(_ address: String) throws(AttackError) {
        guard let components = URLComponents(string: address), components.scheme?.lowercased() == "http",
            let host = components.host, !host.isEmpty, ["", "/"].contains(components.path), components.query == nil
        else { throw AttackError.notPlainHTTP(address) }
        self.host = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        port = components.port ?? 80
    }

    /// Posts a body and reads the answer, which may come before the body has gone.
    /// - Throws: what the connection throws, and where no answer comes within a minute.
    func post(_ path: String, _ body: [UInt8], headers: [(String, String)] = []) async throws -> Answer {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(10))
            .connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    return try NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>(
                        wrappingChannelSynchronously: channel)
                }
            }
        let connection = channel.channel
        let deadline = connection.eventLoop.scheduleTask(in: .seconds(60)) { connection.close(promise: nil) }
        defer { deadline.cancel() }
        var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: path)
        head.headers.add(name: "Host", value: "\(host):\(port)")
        head.headers.add(name: "Content-Type", value: "application/json")
        head.headers.add(name: "Content-Length", value: "\(body.count)")
        head.headers.add(name: "Connection", value: "close")
        for (name, value) in headers { head.headers.add(name: name, value: value) }
        let request = head
        return try await channel.executeThenClose { inbound, outbound in
            async let sent: Void = Self.send(request, body, to: outbound)
            let answer = try await Self.read(inbound)
            // A server that refuses a body early stops reading it; the answer is what counts.
            _ = try? await sent
            return answer
        }
    }

    private static func send(
        _ head: HTTPRequestHead, _ body: [UInt8], to outbound: NIOAsyncChannelOutboundWriter<HTTPClientRequestPart>
    ) async throws {
        try await outbound.write(.head(head))
        var rest = body[...]
        while !rest.isEmpty {
            try await outbound.write(.body(.byteBuffer(ByteBuffer(bytes: rest.prefix(65_536)))))
            rest = rest.dropFirst(65_536)
        }
        try await outbound.write(.end(nil))
    }

    private static func read(_ inbound: NIOAsyncChannelInboundStream<HTTPClientResponsePart>) async throws -> Answer {
        var status = 0
        var body = Data()
        for try await part in inbound {
            switch part {
            case .head(let head): status = Int(head.status.code)
            case .body(let buffer): body.append(contentsOf: buffer.readableBytesView)
            case .end: return Answer(status: status, body: body)
            }
        }
        throw ChannelError.eof
    }
}
