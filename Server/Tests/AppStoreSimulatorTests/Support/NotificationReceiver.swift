import AppStoreSimulator
import EvidenceMint
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import PurchaseVerification
import ServerTestSupport
import Synchronization
import Testing

/// A server that gets notifications, and answers as a test wants.
final class NotificationReceiver: Sendable {
    /// One notification that arrived.
    struct Arrival: Sendable {
        let path: String
        let payload: String

        /// The claims of the envelope.
        var claims: [String: Any] {
            get throws { try JWSClaims.read(payload) }
        }

        var type: String {
            get throws { try #require(try claims["notificationType"] as? String) }
        }

        var uuid: String {
            get throws { try #require(try claims["notificationUUID"] as? String) }
        }
    }

    private let received = Mutex<[Arrival]>([])
    private let answer: @Sendable (_ path: String, _ number: Int) async throws -> Response

    /// - Parameter answer: the answer to the n-th notification, from 1.
    init(_ answer: @escaping @Sendable (_ path: String, _ number: Int) async throws -> Response) {
        self.answer = answer
    }

    convenience init(status: Int = 200) {
        self.init { _, _ in Response(status: .init(code: status)) }
    }

    var arrivals: [Arrival] { received.withLock { $0 } }

    /// The types in the order of their arrival.
    var types: [String] {
        get throws { try arrivals.map { try $0.type } }
    }

    /// Runs it over HTTP, or over TLS with a certificate.
    func run(certificate: SigningIdentity? = nil, _ body: @Sendable (_ port: Int) async throws -> Void) async throws {
        let router = Router()
        router.post("**") { request, _ in
            let bytes = try await request.body.collect(upTo: 1 << 20)
            let object = try JSONSerialization.jsonObject(with: Data(bytes.readableBytesView)) as? [String: Any]
            let payload = try #require(object?["signedPayload"] as? String)
            #expect(object?.count == 1 && request.headers[.contentType] == "application/json")
            let number = self.received.withLock { received in
                received.append(Arrival(path: request.uri.path, payload: payload))
                return received.count
            }
            return try await self.answer(request.uri.path, number)
        }
        var server = HTTPServerBuilder.http1()
        if let certificate {
            let chain = [
                NIOSSLCertificateSource.certificate(
                    try NIOSSLCertificate(bytes: certificate.certificate, format: .der))
            ]
            let key = try NIOSSLPrivateKey(bytes: Array(certificate.privateKey.pem.utf8), format: .pem)
            server = try .tls(
                .http1(),
                tlsConfiguration: .makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(key)))
        }
        try await Application(router: router, server: server, logger: SimulatorClient.silent).live {
            try await body($0.port)
        }
    }

    /// Waits until a number of notifications arrived.
    func wait(for count: Int, within limit: Duration = .seconds(600)) async throws {
        let end = ContinuousClock.now + limit
        while arrivals.count < count, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(20)) }
        #expect(arrivals.count >= count, "\(arrivals.count) notifications arrived")
    }
}

/// The claims of a compact JWS, unverified.
enum JWSClaims {
    static func read(_ jws: String) throws -> [String: Any] {
        let parts = jws.split(separator: ".")
        let part = try #require(parts.count == 3 ? parts[1] : nil)
        var base64 = String(part).replacing("-", with: "+").replacing("_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.count % 4) % 4)
        let data = try #require(Data(base64Encoded: base64))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }
}

/// A server that writes bytes, and closes the connection or leaves it open.
struct RawReceiver: Sendable {
    let bytes: String
    let closes: Bool

    func run(_ body: (_ port: Int) async throws -> Void) async throws {
        let (bytes, closes) = (bytes, closes)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answering(bytes: bytes, closes: closes))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        do {
            try await body(port)
        } catch {
            try await channel.close()
            throw error
        }
        try await channel.close()
    }

    private final class Answering: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let bytes: String
        private let closes: Bool
        private var hasAnswered = false
        private var end: [UInt8] = []

        init(bytes: String, closes: Bool) {
            (self.bytes, self.closes) = (bytes, closes)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            // Bytes that are not read would make the system reset the connection instead of closing it.
            end = Array((end + Array(unwrapInboundIn(data).readableBytesView)).suffix(2))
            guard !hasAnswered, end == Array("\"}".utf8) else { return }
            hasAnswered = true
            if !bytes.isEmpty { context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: bytes)), promise: nil) }
            if closes { context.close(promise: nil) }
        }
    }
}

/// A simulator that sends its notifications to a server.
enum DeliveryWorld {
    /// The settings of tests, with a server.
    static func configuration(
        _ port: Int, path: String = "/notifications/v2", scheme: String = "http",
        _ change: (inout SimulatorConfiguration) -> Void = { _ in }
    ) -> SimulatorConfiguration {
        SimulatorClient.configuration {
            $0.notificationURL = "\(scheme)://127.0.0.1:\(port)\(path)"
            change(&$0)
        }
    }

    /// A verifier that trusts the store.
    static func verifier() throws -> PurchaseVerifier {
        let authority = try StoreWorld.authority()
        let anchors = authority.trustedCertificatesPEM.components(separatedBy: "-----BEGIN CERTIFICATE-----")
            .dropFirst()
        return PurchaseVerifier(
            anchors: try anchors.map { text in
                let base64 = text.components(separatedBy: "-----END CERTIFICATE-----").first ?? ""
                let der = try #require(Data(base64Encoded: base64, options: .ignoreUnknownCharacters))
                return try TrustAnchor(certificate: [UInt8](der))
            })
    }
}

extension SimulatorClient {
    /// Sends everything that is due, and returns the counts.
    @discardableResult
    func deliver() async throws -> [String: Any] {
        let answer = try await post("/control/notifications/deliver")
        #expect(answer.status == 200, "\(answer.text)")
        return try answer.object
    }

    /// The notifications, oldest first.
    func notifications() async throws -> [[String: Any]] {
        let answer = try await get("/control/lists/notifications?limit=200")
        return try #require(try answer.object["items"] as? [[String: Any]], "\(answer.text)").reversed()
    }

    /// The results of the attempts of the latest notification.
    func latestResults() async throws -> [String] {
        let attempts = try await notifications().last?["attempts"] as? [[String: Any]]
        return try #require(attempts).compactMap { $0["result"] as? String }
    }

    func advance(seconds: Int) async throws {
        let answer = try await post("/control/clock", ["advance_seconds": seconds])
        #expect(answer.status == 200, "\(answer.text)")
    }
}

/// A flag that a test sets once.
final class Flag: Sendable {
    private let value = Mutex(false)

    var isSet: Bool { value.withLock { $0 } }

    func set() { value.withLock { $0 = true } }
}
