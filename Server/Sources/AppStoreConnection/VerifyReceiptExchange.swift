import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import PurchaseAPI

/// One attempt: a request to one of the two addresses, and the reply or the reason why there is none.
struct VerifyReceiptExchange: Sendable {
    private let exchange: HTTPExchange
    private let settings: AppStoreConnectionSettings

    /// - Throws: `AppStoreConnectionSettingsError` if the trusted authorities cannot be read.
    init(
        _ settings: AppStoreConnectionSettings, limits: AttemptLimits, skew: ClockSkew
    ) throws(AppStoreConnectionSettingsError) {
        self.settings = settings
        exchange = try HTTPExchange(
            trustFile: settings.trustFile, limits: limits, largestReply: VerifyReceiptResponse.largestReply,
            skew: skew)
    }

    /// A reply, decoded, with its bytes.
    struct Reply: Sendable {
        let json: [UInt8]
        let response: VerifyReceiptResponse
    }

    /// Sends one request.
    func send(_ body: [UInt8], to environment: ValidationEnvironment) async -> Result<Reply, UndeterminedValidation> {
        var request = HTTPClientRequest(url: settings.url(of: environment).absoluteString)
        request.method = .POST
        request.headers = [
            "content-type": "application/json", "accept": "application/json", "accept-encoding": "gzip",
            "user-agent": "assay",
        ]
        // Bytes of a known length: Apple answers a chunked request with 21199.
        request.body = .bytes(ByteBuffer(bytes: body))
        switch await exchange.send(request) {
        case .success(let reply) where reply.status == 200: return Self.decode(reply.body, environment)
        case .success(let reply):
            let isRedirect = (300..<400).contains(reply.status)
            let words = isRedirect ? "a redirect, which is not followed" : "the HTTP status of an error"
            return .failure(.init(.httpStatus, environment, seen: "\(reply.status), \(words)"))
        case .failure(let failure): return .failure(.init(failure.code, environment, seen: failure.words))
        }
    }

    func shutdown() async throws { try await exchange.shutdown() }

    private static func decode(
        _ json: [UInt8], _ environment: ValidationEnvironment
    ) -> Result<Reply, UndeterminedValidation> {
        do {
            return .success(Reply(json: json, response: try VerifyReceiptResponse(json: json)))
        } catch {
            let kept = json.count <= UndeterminedValidation.keptReplyBytes ? json : nil
            return .failure(.init(.unreadable, environment, seen: "\(error)", json: kept))
        }
    }
}

extension UndeterminedValidation {
    /// The time of the next question if neither the outcome nor the circuit breaker determines one.
    static let usualRetry = Duration.seconds(5)

    fileprivate init(
        _ code: Code, _ environment: ValidationEnvironment, seen: String, json: [UInt8]? = nil
    ) {
        self.init(code, environment, seen: seen, json: json, retryAfter: Self.usualRetry)
    }
}
