import AsyncHTTPClient
import EvidenceMint
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import TextFormats

/// Sends one notification to a server, with redirects, and names the result.
struct NotificationSender: Sendable {
    /// The settings of the client that it sends with.
    let configuration: HTTPClient.Configuration
    private let issuer: EvidenceIssuer
    /// The time for an attempt, from the connection to the end of the answer.
    private let limit: Duration

    /// More redirects than a server needs.
    static let maximumRedirects = 5
    /// An answer of a server has no content that is read.
    static let answerBytes = 64 << 10

    /// - Parameters:
    ///   - trustFile: certificates in PEM that servers are trusted with, besides those of the machine.
    ///   - limit: the time for an attempt. Apple's pages name none; developers measured 30 seconds.
    /// - Throws: `SimulatorConfigurationError`.
    init(issuer: EvidenceIssuer, trustFile: String?, limit: Duration) throws(SimulatorConfigurationError) {
        (self.issuer, self.limit) = (issuer, limit)
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let trustFile {
            do {
                tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMFile(trustFile))]
            } catch {
                throw .invalidTrustFile(trustFile, reason: "\(error)")
            }
        }
        var pool = HTTPClient.Configuration.ConnectionPool(
            idleTimeout: .seconds(30),
            concurrentHTTP1ConnectionsPerHostSoftLimit: NotificationDispatch.parallelSends)
        // Each attempt is made once, and its own error is recorded.
        pool.retryConnectionEstablishment = false
        let whole = TimeAmount(limit)
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            timeout: .init(connect: min(.seconds(10), whole), read: whole, write: whole), connectionPool: pool)
        configuration.httpVersion = .http1Only
        self.configuration = configuration
    }

    func send(_ notification: OutgoingNotification, with client: HTTPClient) async -> SendAttempt {
        let start = ContinuousClock.now
        var attempt: SendAttempt
        do {
            guard let template = try NotificationTemplate(notification.event, in: notification.store) else {
                return SendAttempt(date: notification.date, result: .other, detail: "the event has no notification")
            }
            let payload = try issuer.signed(template, fault: notification.fault)
            let (result, status, detail) = await send(payload, to: notification.url, with: client)
            attempt = SendAttempt(date: notification.date, result: result, status: status, detail: detail)
        } catch {
            // A fault that this content cannot have.
            attempt = SendAttempt(date: notification.date, result: .other, detail: "\(error)")
        }
        attempt.milliseconds = Int(((ContinuousClock.now - start) / .milliseconds(1)).rounded())
        return attempt
    }

    typealias Outcome = (result: SendAttemptResult, status: Int?, detail: String?)

    private func send(_ payload: String, to url: String, with client: HTTPClient) async -> Outcome {
        let body = ClaimValue.object([Claim("signedPayload", .string(payload))]).json
        return await withTaskGroup(of: Outcome.self) { group in
            group.addTask { await exchange(body, url, with: client) }
            group.addTask {
                do {
                    try await Task.sleep(for: limit)
                } catch {
                    // The exchange has ended before.
                }
                return (.timedOut, nil, "no complete answer in \(limit)")
            }
            guard let first = await group.next() else { return (.other, nil, nil) }
            group.cancelAll()
            return first
        }
    }

    /// Posts the body, and posts it again to where a redirect points.
    private func exchange(_ body: [UInt8], _ url: String, with client: HTTPClient) async -> Outcome {
        var url = url
        var visited: Set<String> = [url]
        while true {
            let answer: HTTPClientResponse
            do {
                var request = HTTPClientRequest(url: url)
                request.method = .POST
                // An own connection: a kept one may be closed at any time, which would look like a server's mistake.
                request.headers = [
                    "content-type": "application/json", "user-agent": "assay-simulator", "connection": "close",
                ]
                request.body = .bytes(ByteBuffer(bytes: body))
                answer = try await client.execute(request, deadline: .now() + TimeAmount(limit))
            } catch {
                return Self.outcome(of: error, hasHead: false)
            }
            let status = Int(answer.status.code)
            do {
                _ = try await answer.body.collect(upTo: Self.answerBytes)
            } catch {
                var outcome = Self.outcome(of: error, hasHead: true)
                outcome.status = status
                return outcome
            }
            guard Self.redirects.contains(status) else { return Self.outcome(of: answer.status, answer.headers) }
            guard let next = Self.target(answer.headers.first(name: "location"), from: url) else {
                return (.invalidResponse, status, "a redirect without an address in 'Location'")
            }
            guard !(url.hasPrefix("https:") && next.hasPrefix("http:")) else {
                return (.unsuccessfulResponseCode, status, "a redirect from HTTPS to HTTP, which is not followed")
            }
            guard visited.insert(next).inserted, visited.count <= Self.maximumRedirects + 1 else {
                return (
                    .circularRedirect, status,
                    "a redirect to \(next.prefix(200)), after \(counted(visited.count - 1, "other"))"
                )
            }
            url = next
        }
    }

    /// Those that ask for the same request again. 303 asks for another one.
    private static let redirects = [301, 302, 307, 308]

    private static func target(_ location: String?, from url: String) -> String? {
        guard let location, let base = URL(string: url), let target = URL(string: location, relativeTo: base) else {
            return nil
        }
        let text = target.absoluteString
        return NotificationSettings.isAddress(text) ? text : nil
    }

    private static func outcome(of status: HTTPResponseStatus, _ headers: HTTPHeaders) -> Outcome {
        let code = Int(status.code)
        guard (200...206).contains(code) else {
            return (.unsuccessfulResponseCode, code, "the HTTP status \(code)")
        }
        if let charset = charset(headers), !charsets.contains(charset) {
            return (.unsupportedCharset, code, "the charset \(charset.prefix(40))")
        }
        return (.success, code, nil)
    }

    /// The charset that an answer names, in small letters.
    private static func charset(_ headers: HTTPHeaders) -> String? {
        for part in (headers.first(name: "content-type") ?? "").split(separator: ";").dropFirst() {
            let words = part.split(separator: "=", maxSplits: 1).map {
                $0.trimmingCharacters(in: CharacterSet(charactersIn: " \t\"")).lowercased()
            }
            if words.count == 2, words[0] == "charset" { return words[1] }
        }
        return nil
    }

    private static let charsets: Set<String> = [
        "utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "latin1", "windows-1252", "utf-16", "utf-16be", "utf-16le",
    ]

    /// The meaning of an error of the network libraries. Their own descriptions name functions and types.
    /// - Parameter hasHead: whether the answer had begun.
    private static func outcome(of error: any Error, hasHead: Bool) -> Outcome {
        switch error {
        case let error as HTTPClientError:
            switch error {
            case .connectTimeout, .readTimeout, .writeTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout,
                .cancelled:
                return (.timedOut, nil, "no complete answer in time")
            case .tlsHandshakeTimeout: return (.tlsIssue, nil, "no TLS connection in time")
            case .remoteConnectionClosed, .uncleanShutdown: return closed(hasHead)
            default: return (.other, nil, "\(error)")
            }
        case ChannelError.connectTimeout: return (.timedOut, nil, "no connection in time")
        case is CancellationError: return (.timedOut, nil, "no complete answer in time")
        case is NIOTooManyBytesError: return (.invalidResponse, nil, "an answer of more than \(answerBytes) bytes")
        case is NIOSSLExtraError: return (.tlsIssue, nil, "the certificate is for another host")
        case NIOSSLError.uncleanShutdown: return closed(hasHead)
        case is NIOSSLError, is BoringSSLError: return (.tlsIssue, nil, String("\(error)".prefix(200)))
        case let error as NIOConnectionError:
            guard let first = error.connectionErrors.first else {
                return (.socketIssue, nil, "the host name is unknown")
            }
            return outcome(of: first.error, hasHead: hasHead)
        case HTTPParserError.invalidEOFState: return closed(true)
        case is HTTPParserError: return (.invalidResponse, nil, "the answer is not HTTP")
        case is ChannelError: return closed(hasHead)
        case is IOError: return (.socketIssue, nil, NetworkFailure.words(error))
        default: return (.socketIssue, nil, String(NetworkFailure.words(error).prefix(200)))
        }
    }

    private static func closed(_ hasHead: Bool) -> Outcome {
        guard hasHead else { return (.noResponse, nil, "the connection was closed without an answer") }
        return (.prematureClose, nil, "the connection was closed in the middle of the answer")
    }
}

/// What the store makes of the answer of a realtime URL.
struct RetentionOutcome: Encodable, Sendable {
    /// The HTTP status; nil without an answer.
    var status: Int?
    /// The time until the answer was complete, in real time.
    var milliseconds = 0
    /// What is shown: `message`, `alternateProduct`, `promotionalOffer` or `advancedCommerceInfo`; nil if the customer
    /// sees the default message.
    var shown: String?
    /// The answer; nil if it is no text.
    var answer: String?
    /// Why nothing is shown, in words.
    var problem: String?
}

/// Asks a realtime URL, and reads its answer as the App Store does: whole within 700 milliseconds, with exactly one of
/// four members.
struct RetentionSender: Sendable {
    private let configuration: HTTPClient.Configuration

    /// Milliseconds (Apple, "Get Retention Message").
    static let usualLimit = 700
    private static let answerBytes = 64 << 10
    private static let members = ["message", "alternateProduct", "promotionalOffer", "advancedCommerceInfo"]

    /// - Parameter sender: its settings of TLS hold here, too.
    init(_ sender: NotificationSender) { configuration = sender.configuration }

    /// Asks, waits longer than the App Store would, and says what it would show.
    /// - Parameter limit: the time after which an answer is too late.
    func ask(_ question: RetentionRequest, limit: Duration) async throws -> RetentionOutcome {
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let start = ContinuousClock.now
        var outcome = RetentionOutcome()
        do {
            var request = HTTPClientRequest(url: question.url)
            request.method = .POST
            request.headers = ["content-type": "application/json", "user-agent": "assay-simulator"]
            let body = ClaimValue.object([Claim("signedPayload", .string(question.signedPayload))]).json
            request.body = .bytes(ByteBuffer(bytes: body))
            let answer = try await client.execute(request, deadline: .now() + .seconds(70))
            outcome.status = Int(answer.status.code)
            outcome.answer = String(buffer: try await answer.body.collect(upTo: Self.answerBytes))
        } catch {
            outcome.problem = "no complete answer: \(NetworkFailure.words(error))"
        }
        try await client.shutdown()
        let elapsed = ContinuousClock.now - start
        outcome.milliseconds = Int((elapsed / .milliseconds(1)).rounded())
        guard outcome.problem == nil else { return outcome }
        guard outcome.status == 200 else {
            outcome.problem = "the HTTP status is not 200"
            return outcome
        }
        guard elapsed <= limit else {
            outcome.problem = "the answer took more than \(limit)"
            return outcome
        }
        let object = outcome.answer.flatMap { APIObject($0.utf8) }
        let named = Self.members.filter { object?.has($0) ?? false }
        guard let object, named.count == 1, let shown = named.first, object.names.count == 1 else {
            outcome.problem = "the answer has not exactly one of \(Self.members.joined(separator: ", "))"
            return outcome
        }
        outcome.shown = shown
        return outcome
    }
}
