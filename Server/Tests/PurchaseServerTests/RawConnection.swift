import Foundation
import NIOCore
import NIOPosix

/// A connection over which a test writes exact bytes.
struct RawConnection {
    private let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// Connects to a port of this machine, and closes when the body ends.
    static func open<Result: Sendable>(
        port: Int, _ body: @Sendable (inout Exchange) async throws -> Result
    ) async throws -> Result {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            var exchange = Exchange(iterator: inbound.makeAsyncIterator(), outbound: outbound)
            return try await body(&exchange)
        }
    }

    /// Sends one request over a separate connection, and reads its answer.
    static func request(port: Int, _ request: String) async throws -> String {
        try await open(port: port) { connection in try await connection.request(request) }
    }

    /// The bytes in both directions.
    struct Exchange {
        var iterator: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
        let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>

        func send(_ text: String) async throws {
            try await outbound.write(ByteBuffer(string: text))
        }

        /// Sends a request, and reads its answer by its length, or the received part if the other side closes.
        mutating func request(_ text: String) async throws -> String {
            var answer = ""
            do {
                try await send(text)
                while !Self.isWhole(answer), let part = try await iterator.next() { answer += String(buffer: part) }
            } catch is IOError {
                // Reset also counts as closed.
            } catch is ChannelError {
                // Closed before the first read.
            }
            return answer
        }

        private static func isWhole(_ answer: String) -> Bool {
            guard let end = answer.range(of: "\r\n\r\n"),
                let length = answer[..<end.lowerBound].lowercased().components(separatedBy: "content-length: ")
                    .dropFirst().first?.prefix(while: \.isNumber)
            else { return false }
            return answer[end.upperBound...].utf8.count >= Int(length) ?? 0
        }

        /// Sends a part repeatedly.
        ///
        /// - Returns: how often it was sent before the other side closed.
        func sendUntilClosed(_ part: String, times: Int) async throws -> Int {
            let buffer = ByteBuffer(string: part)
            for count in 0..<times {
                do {
                    try await outbound.write(buffer)
                } catch {
                    // After any error, the other side no longer reads.
                    return count
                }
            }
            return times
        }

        /// Sends one part after the other, slowly. Returns whether the other side closed before the last part.
        func isCutOff(_ parts: [String]) async throws -> Bool {
            for part in parts {
                do {
                    try await send(part)
                } catch is ChannelError {
                    return true
                } catch is IOError {
                    return true
                }
                try await Task.sleep(for: .milliseconds(100))
            }
            return false
        }

        /// Reads until the answer holds a text, or the other side closes.
        mutating func read(until text: String) async throws -> String {
            var answer = ""
            while !answer.contains(text), let part = try await iterator.next() {
                answer += String(buffer: part)
            }
            return answer
        }

        /// Reads until the other side closes.
        mutating func readToEnd() async throws -> String {
            var answer = ""
            do {
                while let part = try await iterator.next() { answer += String(buffer: part) }
            } catch is IOError {
                // Reset also counts as closed.
            } catch is ChannelError {
                // Closed before the first read.
            }
            return answer
        }
    }
}
