import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// JSON as it is sent: keys in alphabetical order, so that equal answers are equal bytes.
enum Wire {
    static let contentType = "application/json"
    /// Of an answer that has no end.
    static let streamType = "text/event-stream"

    static func json(_ message: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](try encoder.encode(message))
    }
}

extension Response {
    static func json(_ message: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        Response(
            status: status, headers: [.contentType: Wire.contentType],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try Wire.json(message))))
    }
}
