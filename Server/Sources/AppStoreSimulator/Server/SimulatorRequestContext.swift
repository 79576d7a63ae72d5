import EvidenceMint
import Foundation
import HTTPTypes
import Hummingbird
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

extension Response {
    /// An answer of the control API.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try StoreJSON.encode(value))))
    }
}
