import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// A client for one server over plain HTTP/1.1, with one connection per request.
struct AttackClient: Sendable {
    /// `http://HOST:PORT`, without a path.
    private let address: String
    /// The time limit of an attack, from the connection to the end of its answer.
    private let timeLimit: Duration

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

    /// It follows no redirect, because the evidence is for one server, and makes no retries, because each attack is one request.
    private static let client: HTTPClient = {
        var pool = HTTPClient.Configuration.ConnectionPool()
        pool.retryConnectionEstablishment = false
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow, timeout: .init(connect: .seconds(10)), connectionPool: pool)
        configuration.httpVersion = .http1Only
        // A server that refuses a body early does not read the rest of it, so the connection cannot be used again.
        configuration.maximumUsesPerConnection = 1
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// - Parameter address: `http://HOST:PORT`, without a path.
    init(_ address: String, timeLimit: Duration) throws(AttackError) {
        guard let components = URLComponents(string: address), components.scheme?.lowercased() == "http",
            let host = components.host, !host.isEmpty, ["", "/"].contains(components.path), components.query == nil
        else { throw AttackError.notPlainHTTP(address) }
        self.address = address.hasSuffix("/") ? String(address.dropLast()) : address
        self.timeLimit = timeLimit
    }

    /// Posts a body and reads the answer, which may come before the body has gone.
    /// - Throws: the errors of the connection, and `Failure`.
    func post(_ path: String, _ body: [UInt8], headers: [(String, String)] = []) async throws -> Answer {
        try await request("POST", path, body, headers: headers)
    }

    /// Sends a request with a body and reads the answer.
    /// - Throws: the errors of the connection, and `Failure`.
    func request(
        _ method: String, _ path: String, _ body: [UInt8], headers: [(String, String)] = []
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: address + path)
        request.method = HTTPMethod(rawValue: method)
        request.headers = ["content-type": "application/json"]
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        // In pieces, so that an answer that refuses the body early is read while the body still goes.
        request.body = .stream(AttackBody(body), length: .known(Int64(body.count)))
        let (sent, timeLimit) = (request, timeLimit)
        return try await withThrowingTaskGroup(of: Answer.self) { group in
            group.addTask { try await Self.answer(sent, timeLimit) }
            // The library's deadline ends with the head of the answer.
            group.addTask {
                try await Task.sleep(for: timeLimit)
                throw Failure.timeout(timeLimit)
            }
            defer { group.cancelAll() }
            guard let answer = try await group.next() else { throw CancellationError() }
            return answer
        }
    }

    private static func answer(_ request: HTTPClientRequest, _ timeLimit: Duration) async throws -> Answer {
        let response = try await client.execute(request, timeout: TimeAmount(timeLimit) + .seconds(1))
        do {
            let body = try await response.body.collect(upTo: answerBytes)
            return Answer(
                status: Int(response.status.code), reason: response.headers.first(name: "Assay-Reason"),
                body: Data(body.readableBytesView))
        } catch is NIOTooManyBytesError {
            throw Failure.answerTooLarge
        }
    }
}
