import Foundation
package import NIOCore

/// An operation that a NATS server sends (https://docs.nats.io/reference/reference-protocols/nats-protocol).
package enum NATSOperation: Equatable, Sendable {
    case info(json: [UInt8])
    /// A message; its status is that of its headers, `nil` if it has none.
    case message(subject: String, status: Int?, payload: [UInt8])
    case error(String)
    case ping, pong, ok
}

/// Reads the operations of a NATS server from the bytes of a connection.
package struct NATSParser {
    /// The longest line and the longest message, in bytes. The longest that a server sends is `INFO` with the addresses
    /// of its cluster; acknowledgements have some hundred.
    package static let limit = 64 << 10

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let headerVersion = "NATS/1.0"

    private var buffer = ByteBuffer()
    private var searched = 0
    /// The message whose line was read.
    private var message: (subject: String, headerBytes: Int, bytes: Int)?

    package init() {}

    /// Whether all bytes were read.
    package var isEmpty: Bool { buffer.readableBytes == 0 && message == nil }

    package mutating func append(_ part: ByteBuffer) {
        buffer.discardReadBytes()
        buffer.writeImmutableBuffer(part)
    }

    /// The next operation; `nil` if more bytes are needed.
    package mutating func next() throws(WebhookFailure) -> NATSOperation? {
        if message == nil {
            guard let line = try line() else { return nil }
            if let operation = try operation(line) { return operation }
        }
        return try content()
    }

    private mutating func line() throws(WebhookFailure) -> String? {
        let view = buffer.readableBytesView
        guard let end = view.dropFirst(searched).firstIndex(of: Self.lineFeed) else {
            searched = view.count
            guard searched <= Self.limit else { throw WebhookFailure(.malformed) }
            return nil
        }
        let text = view[view.startIndex..<end]
        guard text.count <= Self.limit, text.last == Self.carriageReturn else { throw WebhookFailure(.malformed) }
        searched = 0
        buffer.moveReaderIndex(forwardBy: text.count + 1)
        return String(decoding: text.dropLast(), as: UTF8.self)
    }

    /// The operation of a line; `nil` if the content of a message follows.
    private mutating func operation(_ line: String) throws(WebhookFailure) -> NATSOperation? {
        let name = line.prefix { $0 != " " && $0 != "\t" }
        let rest = line.dropFirst(name.count)
        switch name.uppercased() {
        case "PING": return .ping
        case "PONG": return .pong
        case "+OK": return .ok
        case "INFO": return .info(json: Array(rest.utf8))
        case "-ERR":
            return .error(rest.trimmingCharacters(in: CharacterSet(charactersIn: " \t'")))
        case "MSG", "HMSG":
            let words = rest.split { $0 == " " || $0 == "\t" }
            // The subject, the subscription, a subject for answers in some, the bytes of the headers, all bytes.
            let counts = name.count == 3 ? 1 : 2
            guard (2 + counts...3 + counts).contains(words.count), let subject = words.first,
                let bytes = words.last.flatMap({ Self.count($0) }),
                let headerBytes = counts == 1 ? 0 : Self.count(words[words.count - 2]), headerBytes <= bytes
            else { throw WebhookFailure(.malformed) }
            message = (String(subject), headerBytes, bytes)
            return nil
        default: throw WebhookFailure(.malformed)
        }
    }

    private mutating func content() throws(WebhookFailure) -> NATSOperation? {
        guard let message, let bytes = buffer.getBytes(at: buffer.readerIndex, length: message.bytes + 2) else {
            return nil
        }
        guard bytes.suffix(2) == [Self.carriageReturn, Self.lineFeed] else { throw WebhookFailure(.malformed) }
        self.message = nil
        buffer.moveReaderIndex(forwardBy: bytes.count)
        var status: Int?
        if message.headerBytes > 0 {
            let headers = String(decoding: bytes.prefix(message.headerBytes), as: UTF8.self)
            guard headers.hasPrefix(Self.headerVersion) else { throw WebhookFailure(.malformed) }
            let line = headers.unicodeScalars.dropFirst(Self.headerVersion.count).prefix { $0 != "\r" }
            status = Int(String(line).split(separator: " ").first ?? "")
        }
        return .message(
            subject: message.subject, status: status, payload: Array(bytes[message.headerBytes..<message.bytes]))
    }

    private static func count(_ text: Substring) -> Int? {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let count = Int(text),
            count <= limit
        else { return nil }
        return count
    }
}
