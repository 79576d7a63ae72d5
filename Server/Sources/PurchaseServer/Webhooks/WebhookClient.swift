import Foundation
package import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// Sends messages to one receiver, over a few connections that stay open between them.
package final class WebhookClient: Sendable {
    /// The time limit of an attempt, from the name to the end of the answer.
    package static let attemptLimit = TimeAmount.seconds(15)
    /// The time limit for connecting to one of several addresses.
    private static let connectLimit = TimeAmount.seconds(5)
    /// The time for which an idle connection is reused; servers close theirs after a minute and more.
    private static let idleLimit = TimeAmount.seconds(20)
    /// The lifetime of a connection, so that a name with a new address is resolved again.
    private static let ageLimit = TimeAmount.seconds(120)

    private let webhook: Webhook
    private let resolver: NameResolver
    private let attemptLimit: TimeAmount
    private let tls: NIOSSLContext?
    private let group: any EventLoopGroup
    private let idle = Mutex(Idle())

    private struct Idle {
        var connections: [Connection] = []
        var isClosed = false
    }

    private struct Connection: Sendable {
        let channel: any Channel
        let handler: NIOLoopBound<WebhookExchangeHandler>
        let opened: NIODeadline
        var used: NIODeadline
    }

    /// - Parameters:
    ///   - webhook: the receiver.
    ///   - resolver: resolves its name.
    ///   - attemptLimit: how long an attempt may take.
    ///   - group: the threads of its connections.
    /// - Throws: if the certificates that the webhook trusts cannot be read.
    package init(
        _ webhook: Webhook, resolver: NameResolver = .system, attemptLimit: TimeAmount = WebhookClient.attemptLimit,
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) throws {
        self.webhook = webhook
        self.resolver = resolver
        self.attemptLimit = attemptLimit
        self.group = group
        guard webhook.url.isSecure else {
            tls = nil
            return
        }
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        if !webhook.url.isNATS { configuration.applicationProtocols = ["http/1.1"] }
        if let trust = webhook.trust {
            configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(trust))
        }
        tls = try NIOSSLContext(configuration: configuration)
    }

    /// Attempts to deliver a message.
    ///
    /// - Throws: `WebhookFailure`, or `CancellationError` if the task was cancelled.
    func send(_ message: WebhookMessage, at seconds: Int64) async throws {
        let deadline = NIODeadline.now() + attemptLimit
        if let connection = takeIdle() {
            do {
                return try Self.judge(try await exchange(message, at: seconds, over: connection, until: deadline))
            } catch let failure as WebhookFailure where failure.code == .connection {
                // The receiver closed a connection that was idle. The message is sent again over a new one.
                try Task.checkCancellation()
            }
        }
        let connection = try await connect(until: deadline)
        try Self.judge(try await exchange(message, at: seconds, over: connection, until: deadline))
    }

    /// Closes all connections.
    package func close() {
        let connections = idle.withLock { idle in
            idle.isClosed = true
            defer { idle.connections = [] }
            return idle.connections
        }
        for connection in connections { connection.channel.close(promise: nil) }
    }

    private static func judge(_ status: Int) throws(WebhookFailure) {
        switch status {
        case 200..<300: return
        case 300..<400: throw WebhookFailure(.redirect, "\(status)")
        case 410: throw WebhookFailure(.gone)
        default: throw WebhookFailure(.status, "\(status)")
        }
    }

    private func exchange(
        _ message: WebhookMessage, at seconds: Int64, over connection: Connection, until deadline: NIODeadline
    ) async throws -> Int {
        var headers = HTTPHeaders(
            webhook.url.isNATS
                // JetStream removes repetitions by it.
                ? message.id.map { [("Nats-Msg-Id", $0)] } ?? []
                : [
                    ("host", webhook.url.authority), ("content-type", "application/json"),
                    ("content-length", "\(message.body.count)"), ("user-agent", "assay"),
                ])
        headers.add(contentsOf: message.headers(at: seconds, secrets: webhook.secrets))
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: webhook.url.target, headers: headers)
        let body = ByteBuffer(bytes: message.body)
        let (channel, handler) = (connection.channel, connection.handler)
        let status = try await withTaskCancellationHandler {
            try await channel.eventLoop.flatSubmit {
                handler.value.send(head, body, within: deadline - .now(), channel)
            }.get()
        } onCancel: {
            channel.close(promise: nil)
        }
        keep(connection)
        return status
    }

    private func takeIdle() -> Connection? {
        let now = NIODeadline.now()
        while let connection = idle.withLock({ $0.connections.popLast() }) {
            if connection.channel.isActive, now - connection.used < Self.idleLimit,
                now - connection.opened < Self.ageLimit
            {
                return connection
            }
            connection.channel.close(promise: nil)
        }
        return nil
    }

    private func keep(_ connection: Connection) {
        var connection = connection
        connection.used = .now()
        let isKept = idle.withLock { idle in
            guard !idle.isClosed, connection.channel.isActive else { return false }
            idle.connections.append(connection)
            return true
        }
        if !isKept { connection.channel.close(promise: nil) }
    }

    /// Resolves the name once, and connects to one of the addresses that it has.
    private func connect(until deadline: NIODeadline) async throws -> Connection {
        let url = webhook.url
        let addresses = try await resolve(until: deadline)
        guard !addresses.isEmpty else { throw WebhookFailure(.name) }
        let allowed = addresses.filter { webhook.allows($0.addressBytes) }
        guard !allowed.isEmpty else {
            throw WebhookFailure(.address, addresses.compactMap(\.ipAddress).prefix(3).joined(separator: ", "))
        }
        var failure = WebhookFailure(.timeout)
        for address in allowed {
            let remaining = deadline - .now()
            guard remaining > .zero else { break }
            try Task.checkCancellation()
            do {
                return try await open(address, url, within: min(remaining, Self.connectLimit))
            } catch let error as IOError {
                failure = WebhookFailure(.connection, "error \(error.errnoCode)")
            } catch is ChannelError {
                failure = WebhookFailure(.timeout)
            } catch {
                failure = WebhookFailure(.connection)
            }
        }
        throw failure
    }

    private func open(
        _ address: SocketAddress, _ url: WebhookURL, within limit: TimeAmount
    ) async throws -> Connection {
        let (tls, credentials) = (tls, webhook.credentials)
        // Looking it up in the pipeline later would fail: a failed handshake removes it.
        let made = MadeHandler()
        let channel = try await ClientBootstrap(group: group)
            .connectTimeout(limit)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    // The name in the URL, not the address that it resolved to. An address is checked as an address.
                    let name = AddressRange.bytes(of: url.host) == nil ? url.host : nil
                    let secure = tls.map { tls in { try NIOSSLClientHandler(context: tls, serverHostname: name) } }
                    if url.isNATS {
                        try pipeline.addHandler(NATSHandler(credentials, tls: secure))
                    } else {
                        if let secure { try pipeline.addHandler(try secure()) }
                        // As `addHTTPClientHandlers`, but interim answers reach the handler, which counts them.
                        try pipeline.addHandlers(
                            HTTPRequestEncoder(),
                            ByteToMessageHandler(HTTPResponseDecoder(informationalResponseStrategy: .forward)))
                    }
                    try pipeline.addHandler(NIOHTTPRequestHeadersValidator())
                    let handler = WebhookExchangeHandler(isSecure: tls != nil, host: tls == nil ? nil : name)
                    made.handler.withLock { $0 = NIOLoopBound(handler, eventLoop: channel.eventLoop) }
                    try pipeline.addHandler(handler)
                }
            }
            .connect(to: address).get()
        guard let handler = made.handler.withLock({ $0 }) else { throw WebhookFailure(.connection) }
        return Connection(channel: channel, handler: handler, opened: .now(), used: .now())
    }

    /// The handler of a connection that is being made.
    private final class MadeHandler: Sendable {
        let handler = Mutex<NIOLoopBound<WebhookExchangeHandler>?>(nil)
    }

    /// The addresses of the host; the wait ends at the deadline even if the name server does not answer.
    private func resolve(until deadline: NIODeadline) async throws -> [SocketAddress] {
        let (resolver, url) = (resolver, webhook.url)
        let promise = group.next().makePromise(of: [SocketAddress].self)
        let limit = group.next().scheduleTask(deadline: deadline) { promise.fail(WebhookFailure(.timeout)) }
        promise.completeWithTask { try await resolver.addresses(url.host, url.port) }
        defer { limit.cancel() }
        do {
            return try await promise.futureResult.get()
        } catch let failure as WebhookFailure {
            throw failure
        } catch {
            throw WebhookFailure(.name)
        }
    }
}

extension WebhookClient {
    /// Whether an address is one that any webhook may be sent to.
    package static func isPublic(_ address: SocketAddress) -> Bool { PublicAddress.contains(address.addressBytes) }

    /// Attempts to deliver a test message.
    ///
    /// - Returns: why it was not delivered; `nil` if it was.
    package func failure() async -> String? {
        do {
            try await send(WebhookMessage(id: "test", body: Array(#"{"type":"test"}"#.utf8)), at: 0)
            return nil
        } catch {
            return "\(error)"
        }
    }
}

/// The reason why an attempt failed. Its text is stored in the log and the database, and contains no part of the URL or
/// the secrets.
package struct WebhookFailure: Error, Sendable, Equatable, CustomStringConvertible {
    package let code: Code
    private let detail: String?

    /// The stable part.
    package enum Code: String, Sendable, CaseIterable {
        /// NATS: no stream of JetStream answers for the subject.
        case noStream = "no_stream"
        /// NATS: the server refused the user, or the stream the message.
        case refused = "publish_refused"
        /// The status was not 2xx.
        case status = "status_refused"
        /// The receiver answered 410; the webhook is disabled.
        case gone
        /// The receiver answered with a redirect, which is not followed.
        case redirect = "redirect_refused"
        /// The attempt exceeded its time limit.
        case timeout = "timed_out"
        /// The name of the host has no address.
        case name = "name_not_resolved"
        /// The addresses of the host are not public, and the host is not among `allow_hosts`.
        case address = "address_refused"
        /// No connection, or it ended before the answer was complete.
        case connection = "connection_failed"
        /// The certificate was refused, or the other side does not speak TLS.
        case tls = "tls_failed"
        /// The answer is not HTTP, or not the acknowledgement of a stream.
        case malformed = "answer_malformed"
    }

    package init(_ code: Code, _ detail: String? = nil) {
        (self.code, self.detail) = (code, detail)
    }

    package var description: String { detail.map { "\(code.rawValue): \($0)" } ?? code.rawValue }
}
