import Foundation
import NIOCore
import NIOPosix
import Testing

/// A request that a test writes byte by byte, and its answer.
enum RawRequest {
    struct Answer {
        let status: Int
        let text: String

        /// The `code` of a problem document; empty in other answers.
        var code: String {
            guard let start = text.range(of: #""code":""#)?.upperBound else { return "" }
            return String(text[start...].prefix { $0 != "\"" })
        }
    }

    /// Sends the lines of a request head and its body over a separate connection, and reads until the server closes it
    /// or has sent a complete answer.
    static func send(_ lines: [String], body: String = "", port: Int) async throws -> Answer {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        // Unless the lines announce another length.
        let isAnnounced = lines.contains { $0.hasPrefix("Content-Length:") }
        let head = lines + (isAnnounced ? [] : ["Content-Length: \(body.utf8.count)"]) + ["Connection: close"]
        let request = head.joined(separator: "\r\n") + "\r\n\r\n" + body
        let text = try await channel.executeThenClose { inbound, outbound in
            var text = ""
            do {
                try await outbound.write(ByteBuffer(string: request))
                for try await part in inbound { text += String(buffer: part) }
            } catch is IOError {
                // Reset after the answer: the received bytes count.
            } catch is ChannelError {
                // Closed before everything was sent: the received bytes count.
            }
            return text
        }
        let status = try #require(Int(text.split(separator: " ").dropFirst().first ?? ""), "\(text.prefix(200))")
        return Answer(status: status, text: text)
    }
}
