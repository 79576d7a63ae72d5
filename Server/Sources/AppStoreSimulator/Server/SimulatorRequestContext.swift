import EvidenceMint
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

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
    /// Whoever sends one must say so: a page of another origin then cannot, as its browser asks first and gets no leave.
    func read<Value: Decodable>(_ type: Value.Type) async throws -> Value {
        try requireJSON()
        let buffer = try await body.collect(upTo: 1 << 20)
        let data = Data(buffer.readableBytesView)
        return try StoreJSON.decode(type, from: data.isEmpty ? Data("{}".utf8) : data)
    }

    func requireJSON() throws {
        guard headers[.contentType]?.lowercased().hasPrefix("application/json") == true else {
            throw HTTPError(.unsupportedMediaType, message: "Send 'Content-Type: application/json'.")
        }
    }
}

extension Response {
    /// An answer of the control API.
    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: try StoreJSON.encode(value))))
    }
}
