import EvidenceMint
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// A client for one server over plain HTTP/1.1, with one connection per request.
/// AsyncHTTPClient loses an answer that a server gives, and then closes, before it has read the body.
struct AttackClient: Sendable {
    let host: String
    let port: Int
    /// The time limit of an attack, from the connection to the end of its answer.
    let timeLimit: Duration

    /// The largest answer that is read. A drop-in's answers to this evidence have a few kilobytes.
    static let answerBytes = 1 << 20

    /// The reasons why there is no usable answer.
    enum Failure: Error, CustomStringConvertible {
        case answerTooLarge
        case timeout(Duration)

        var description: String {
            switch self {
            case .answerTooLarge: "the answer is larger than \(AttackClient.answerBytes) bytes"
            case .timeout(let limit): "there was no whole answer within \(limit.components.seconds) s"
            }
        }
    }

    /// The status and the body of an answer.
    struct Answer: Sendable {
        let status: Int
        /// The header `Assay-Reason` of the drop-in.
        let reason: String?
        let body: Data
    }

    /// - Parameter address: `http://HOST:PORT`, without a path.
    init(_ address: String, timeLimit: Duration) throws(AttackError) {
        guard let components = URLComponents(string: address), components.scheme?.lowercased() == "http",
            let host = components.host, !host.isEmpty, ["", "/"].contains(components.path), components.query == nil
        else { throw AttackError.notPlainHTTP(address) }
        self.host = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        port = components.port ?? 80
        self.timeLimit = timeLimit
    }

    /// Sends a request with a body and reads the answer, which may come before the body has gone.
    /// - Throws: the errors of the connection, and `Failure`.
    func request(
        _ method: String, _ path: String, _ body: [UInt8], headers: [(String, String)] = []
    ) async throws -> Answer {
        let deadline = ContinuousClock.now + timeLimit
        do {
            return try await answer(HTTPMethod(rawValue: method), path, body, headers: headers, until: deadline)
        } catch {
            // At the deadline the connection is closed, which throws as if the server had closed it.
            throw ContinuousClock.now < deadline ? error : Failure.timeout(timeLimit)
        }
    }

    private func answer(
        _ method: HTTPMethod, _ path: String, _ body: [UInt8], headers: [(String, String)],
        until deadline: ContinuousClock.Instant
    ) async throws -> Answer {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(min(.seconds(10), TimeAmount(timeLimit)))
            .connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    return try NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>(
                        wrappingChannelSynchronously: channel)
                }
            }
        let connection = channel.channel
        let closing = connection.eventLoop.scheduleTask(in: TimeAmount(ContinuousClock.now.duration(to: deadline))) {
            connection.close(promise: nil)
        }
        defer { closing.cancel() }
        var head = HTTPRequestHead(version: .http1_1, method: method, uri: path)
        head.headers.add(name: "Host", value: "\(host):\(port)")
        head.headers.add(name: "Content-Type", value: "application/json")
        head.headers.add(name: "Content-Length", value: "\(body.count)")
        head.headers.add(name: "Connection", value: "close")
        for (name, value) in headers { head.headers.add(name: name, value: value) }
        let request = head
        return try await channel.executeThenClose { inbound, outbound in
            async let sent: Void = Self.send(request, body, to: outbound)
            let answer = try await Self.read(inbound)
            // A server that refuses a body early stops reading it; its answer still counts.
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
        var reason: String?
        var body = Data()
        for try await part in inbound {
            switch part {
            case .head(let head):
                status = Int(head.status.code)
                reason = head.headers.first(name: "Assay-Reason")
            case .body(let buffer):
                guard body.count + buffer.readableBytes <= answerBytes else { throw Failure.answerTooLarge }
                body.append(contentsOf: buffer.readableBytesView)
            case .end: return Answer(status: status, reason: reason, body: body)
            }
        }
        throw ChannelError.eof
    }
}
