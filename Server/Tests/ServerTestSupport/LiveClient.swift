public import HTTPTypes
public import Hummingbird
import HummingbirdTesting
public import NIOCore

/// A client of a server that runs in this process, over real HTTP.
///
/// Each request has a connection of its own, so that requests at the same time are, and that none meets a connection which the
/// server closed for being idle. It waits for minutes: the tests share few threads, and an answer may stand behind many of them.
public struct LiveClient: Sendable {
    /// Where the server listens, on 127.0.0.1.
    public let port: Int

    /// Sends a request and waits for its answer.
    public func execute(
        uri: String, method: HTTPRequest.Method, headers: HTTPFields = [:], body: ByteBuffer? = nil
    ) async throws -> LiveResponse {
        try await TestClient.withClient(
            host: "127.0.0.1", port: port, configuration: .init(timeout: .seconds(600))
        ) { client in
            let response = try await client.execute(
                TestClient.Request(uri, method: method, authority: "localhost", headers: headers, body: body))
            return LiveResponse(
                status: response.status, headers: response.headers, body: response.body ?? ByteBuffer())
        }
    }
}

/// What a server answered.
public struct LiveResponse: Sendable {
    public let status: HTTPResponse.Status
    public let headers: HTTPFields
    public let body: ByteBuffer
}

extension ApplicationProtocol {
    /// Runs the server on a port of its own while the body runs.
    public func live(_ body: @Sendable (LiveClient) async throws -> Void) async throws {
        try await test(.live) { client in
            guard let port = client.port else { throw TestClient.Error.connectionNotOpen }
            try await body(LiveClient(port: port))
        }
    }
}
