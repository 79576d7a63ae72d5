import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOPosix
import NIOSSL
import PurchaseAPI
import Synchronization

/// One attempt: a request to one of the two addresses, and the reply or the reason why there is none.
struct VerifyReceiptExchange: Sendable {
    private let client: HTTPClient
    private let settings: AppStoreConnectionSettings
    private let limits: AttemptLimits

    /// - Throws: `AppStoreConnectionSettingsError` if the trusted authorities cannot be read.
    init(_ settings: AppStoreConnectionSettings, limits: AttemptLimits) throws(AppStoreConnectionSettingsError) {
        self.settings = settings
        self.limits = limits
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let path = settings.trustFile {
            do {
                let authorities = try NIOSSLCertificate.fromPEMFile(path)
                guard !authorities.isEmpty else {
                    throw AppStoreConnectionSettingsError.trustFile(path, reason: "the file has no certificate")
                }
                tls.trustRoots = .certificates(authorities)
            } catch let error as AppStoreConnectionSettingsError {
                throw error
            } catch {
                throw .trustFile(path, reason: "\(error)")
            }
        }
        var pool = HTTPClient.Configuration.ConnectionPool(
            idleTimeout: .seconds(60), concurrentHTTP1ConnectionsPerHostSoftLimit: CallLimit.callsInAll)
        // The client makes the retries, because the library's would not be counted.
        pool.retryConnectionEstablishment = false
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(connect: limits.connect, read: limits.read, write: limits.read), connectionPool: pool,
            decompression: .enabled(limit: .size(VerifyReceiptResponse.largestReply + 1)))
        configuration.httpVersion = .http1Only
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// A reply, decoded, with its bytes.
    struct Reply: Sendable {
        let json: [UInt8]
        let response: VerifyReceiptResponse
    }

    /// Sends one request.
    func send(_ body: [UInt8], to environment: ValidationEnvironment) async -> Result<Reply, UndeterminedValidation> {
        let isLate = Atomic(false)
        let exchange = Task { try await collect(body, environment) }
        // The library's deadline ends with the head of the reply.
        let timer = client.eventLoopGroup.next().scheduleTask(in: limits.whole) {
            isLate.store(true, ordering: .relaxed)
            exchange.cancel()
        }
        let result = await withTaskCancellationHandler {
            await exchange.result
        } onCancel: {
            exchange.cancel()
        }
        timer.cancel()
        // A truncated reply is ignored.
        if isLate.load(ordering: .relaxed) {
            return .failure(.init(.timeout, environment, seen: "no whole reply in \(limits.whole.words)"))
        }
        switch result {
        case .success(let reply): return reply.flatMap { Self.decode($0, environment) }
        case .failure(let error): return .failure(failure(error, environment))
        }
    }

    func shutdown() async throws { try await client.shutdown() }

    private func collect(
        _ body: [UInt8], _ environment: ValidationEnvironment
    ) async throws -> Result<[UInt8], UndeterminedValidation> {
        var request = HTTPClientRequest(url: settings.url(of: environment).absoluteString)
        request.method = .POST
        request.headers = [
            "content-type": "application/json", "accept": "application/json", "accept-encoding": "gzip",
            "user-agent": "assay",
        ]
        // Bytes of a known length: Apple answers a chunked request with 21199.
        request.body = .bytes(ByteBuffer(bytes: body))
        let response = try await client.execute(request, deadline: .now() + limits.whole)
        guard response.status == .ok else {
            // Read to its end, so that the connection can be used again.
            _ = try? await response.body.collect(upTo: UndeterminedValidation.keptReplyBytes)
            let isRedirect = (300..<400).contains(response.status.code)
            let words = isRedirect ? "a redirect, which is not followed" : "the HTTP status of an error"
            return .failure(.init(.httpStatus, environment, seen: "\(response.status.code), \(words)"))
        }
        return .success(Array(buffer: try await response.body.collect(upTo: VerifyReceiptResponse.largestReply)))
    }

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

    private func failure(_ error: any Error, _ environment: ValidationEnvironment) -> UndeterminedValidation {
        let (code, words) = NetworkError.meaning(of: error, limits)
        return UndeterminedValidation(code, environment, seen: words)
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
