import Crypto
import Foundation
import NIOCore
import PurchaseServer
import Synchronization
import Testing

@Suite("Events in NATS JetStream")
struct NATSTests {
    /// Made by nkeys of PyPI from the bytes 0 to 31.
    static let seed = "SUAAAAICAMCAKBQHBAEQUCYMBUHA6EARCIJRIFIWC4MBSGQ3DQOR4H776Y"
    static let credentials = """
        -----BEGIN NATS USER JWT-----
        eyJ0eXAi.eyJqdGki.c2ln
        ------END NATS USER JWT------

        -----BEGIN USER NKEY SEED-----
        \(seed)
        ------END USER NKEY SEED------
        """
    private static let operations: [(String, NATSOperation)] = [
        ("INFO {\"headers\":true}\r\n", .info(json: Array(" {\"headers\":true}".utf8))), ("+OK\r\n", .ok),
        ("PING\r\n", .ping), ("pong\r\n", .pong), ("-ERR 'Stale Connection'\r\n", .error("Stale Connection")),
        ("MSG a.b 1 3\r\n\r\nx\r\n", .message(subject: "a.b", status: nil, payload: Array("\r\nx".utf8))),
        ("MSG a\t1 r  0\r\n\r\n", .message(subject: "a", status: nil, payload: [])),
        ("HMSG a 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n", .message(subject: "a", status: 503, payload: [])),
        (
            "HMSG a 1 r 19 21\r\nNATS/1.0\r\nx: 12\r\n\r\n{}\r\n",
            .message(subject: "a", status: nil, payload: Array("{}".utf8))
        ),
    ]

    /// The operations of bytes that arrive in parts, and whether they were refused.
    private static func read(_ bytes: [UInt8], _ partBytes: Int = .max) -> (
        operations: [NATSOperation], isRefused: Bool
    ) {
        var (parser, operations, rest) = (NATSParser(), [NATSOperation](), bytes[...])
        do throws(WebhookFailure) {
            repeat {
                parser.append(ByteBuffer(bytes: rest.prefix(partBytes)))
                rest = rest.dropFirst(partBytes)
                while let operation = try parser.next() { operations.append(operation) }
            } while !rest.isEmpty
        } catch {
            #expect(error.code == .malformed)
            return (operations, true)
        }
        return (operations, false)
    }

    @Test("Each operation is read when its last byte came, in whatever parts; changed bytes are read or refused")
    func parsing() {
        let (bytes, expected) = (Self.operations.flatMap { Array($0.0.utf8) }, Self.operations.map(\.1))
        for partBytes in [1, 2, 7, bytes.count] { #expect(Self.read(bytes, partBytes) == (expected, false)) }
        var ends: [Int] = []
        for (text, _) in Self.operations { ends.append((ends.last ?? 0) + text.utf8.count) }
        for length in 0..<bytes.count {
            let whole = ends.count { $0 <= length }
            #expect(Self.read(Array(bytes.prefix(length))) == (Array(expected.prefix(whole)), false), "\(length)")
        }
        var refused = 0
        for place in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[place] ^= 1 << bit
                let read = Self.read(changed)
                refused += read.isRefused ? 1 : 0
                // What came before is not changed.
                let before = ends.count { $0 <= place }
                #expect(read.operations.starts(with: expected.prefix(before)), "\(place) \(bit)")
            }
        }
        #expect(refused > bytes.count)
    }

    @Test(
        "What no server sends is refused, and lines and messages have a limit",
        arguments: [
            "HTTP/1.1 400 Bad Request\r\n", "\r\n", "PING\n", "MSG a 1\r\n", "MSG a 1 r x 1\r\n", "MSG a 1 -1\r\n",
            "MSG a 1 +1\r\n", "MSG a 1 99999999999999999999\r\n", "MSG a 1 65537\r\n", "HMSG a 1 3 2\r\n",
            "MSG a 1 1\r\nabc", "HMSG a 1 4 4\r\nabcd\r\n", String(repeating: "x", count: 65_538),
            "INFO " + String(repeating: "x", count: 65_536) + "\r\n",
        ])
    func malformed(_ text: String) {
        #expect(Self.read(Array(text.utf8)) == ([], true))
    }

    @Test("Credentials sign with the key of their seed; a changed letter of it is refused")
    func signing() throws {
        let credentials = try #require(NATSCredentials(Self.credentials))
        let bytes = try #require(Data(base64Encoded: "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg="))
        let key = try Curve25519.Signing.PublicKey(rawRepresentation: bytes)
        let text = try credentials.signature(of: "nonce").replacing("-", with: "+").replacing("_", with: "/")
        #expect(key.isValidSignature(try #require(Data(base64Encoded: text + "==")), for: Data("nonce".utf8)))
        #expect("\(credentials)" == "NATS credentials" && credentials == NATSCredentials(Self.credentials))
        for place in Self.seed.indices.dropLast() {
            var changed = Self.seed
            changed.replaceSubrange(place...place, with: changed[place] == "A" ? "B" : "A")
            #expect(NATSCredentials(Self.credentials.replacing(Self.seed, with: changed)) == nil, "\(changed)")
        }
        for (text, other) in [(Self.seed, ""), (".c2ln", ""), ("USER JWT", "JWT"), ("SEED", "KEY")] {
            #expect(NATSCredentials(Self.credentials.replacing(text, with: other)) == nil)
        }
    }

    /// Why each of some deliveries failed, or `delivered`.
    private static func deliver(
        _ server: NATSServer, _ scheme: String = "nats", host: String = "127.0.0.1", count: Int = 1,
        secrets: [String] = [WebhookWorld.secret], trust: String? = ReceiverCertificate.authority,
        limit: TimeAmount = .minutes(1)
    ) async throws -> [String] {
        let url = try #require(WebhookURL("\(scheme)://\(host):\(server.port)/events.game"))
        let webhook = Webhook(
            app: "game", url: url, secrets: secrets.compactMap { WebhookSecret($0) }, allowedHosts: [host],
            trust: trust.map { Array($0.utf8) }, credentials: NATSCredentials(credentials))
        let port = server.port
        let resolver = NameResolver { _, _ in [try SocketAddress(ipAddress: "127.0.0.1", port: port)] }
        let client = try WebhookClient(webhook, resolver: resolver, attemptLimit: limit)
        defer { client.close() }
        var results: [String] = []
        for _ in 0..<count { results.append(await client.failure() ?? "delivered") }
        return results
    }

    @Test("An event is one message with the headers of a webhook, and is delivered when the stream acknowledges it")
    func delivered() async throws {
        try await NATSServer.run { server in
            #expect(try await Self.deliver(server, count: 3) == Array(repeating: "delivered", count: 3))
            #expect(server.connections == 1 && server.messages.count == 3)
            let (message, lines) = (try #require(server.messages.first), server.lines)
            let start =
                "NATS/1.0\r\nNats-Msg-Id: test\r\nwebhook-id: test\r\nwebhook-timestamp: 0\r\nwebhook-signature: v1,"
            #expect(message.hasPrefix(start) && message.hasSuffix("=\r\n\r\n{\"type\":\"test\"}"), "\(message)")
            #expect(
                lines.count == 3 && lines[0].contains(#""no_responders":true,"tls_required":false,"jwt":"eyJ0eXAi."#))
            #expect(lines[1].hasPrefix("SUB _INBOX.") && lines[2] == "PING")
            #expect(try await Self.deliver(server, secrets: []) == ["delivered"])
            #expect(server.messages.last?.contains("signature") == false)
            // The acknowledgement of a repetition, after messages that are none of it.
            server.play(
                .init(
                    answer: "MSG _INBOX.1.2 1 2\r\n{}\r\nPING\r\n+OK\r\n"
                        + NATSServer.message(#"{"stream":"EVENTS","seq":7,"duplicate":true}"#)))
            #expect(try await Self.deliver(server, count: 2) == ["delivered", "delivered"])
            #expect(server.lines.contains("PONG"))
        }
    }

    private static let failures: [(String, NATSServer.Play)] = [
        ("no_stream: no stream", .init(answer: "HMSG REPLY 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n")),
        (
            "publish_refused: maximum messages exceeded",
            .init(
                answer: NATSServer.message(#"{"error":{"code":400,"description":"maximum messages exceeded"},"seq":0}"#)
            )
        ),
        ("answer_malformed", .init(answer: NATSServer.message(#"{"stream":"EVENTS"}"#))),
        ("answer_malformed", .init(answer: NATSServer.message(#"{"stream":"","seq":1}"#))),
        ("answer_malformed", .init(answer: NATSServer.message("ok"))),
        ("answer_malformed", .init(answer: String(repeating: "PING\r\n", count: 70))),
        ("answer_malformed", .init(greeting: "HTTP/1.1 400 Bad Request\r\n")),
        ("answer_malformed", .init(greeting: "INFO {\r\n")),
        ("publish_refused: Authorization Violation", .init(refusal: "-ERR 'Authorization Violation'\r\n")),
        (
            "publish_refused: the user may not publish to the subject",
            .init(answer: "-ERR 'Permissions Violation for Publish to \"events.game\"'\r\n")
        ),
        (
            "publish_refused: the user may not subscribe to _INBOX.>",
            .init(refusal: "-ERR 'Permissions Violation for Subscription to \"_INBOX.1.*\"'\r\n")
        ),
        ("publish_refused: the server takes no headers", .init(greeting: "INFO {\"max_payload\":1048576}\r\n")),
        ("publish_refused: the message has", .init(greeting: "INFO {\"headers\":true,\"max_payload\":9}\r\n")),
        ("tls_failed: the server requires tls://", .init(greeting: NATSServer.info(#","tls_required":true"#))),
        ("connection_failed", .init(answer: "MSG REPLY 1 40\r\n{\"stream\"", closes: true)),
    ]

    @Test(
        "Each answer but an acknowledgement is a failure, and the next attempt makes a connection",
        arguments: failures.indices)
    func failure(_ place: Int) async throws {
        let (expected, play) = Self.failures[place]
        try await NATSServer.run(play) { server in
            let failures = try await Self.deliver(server, count: 2)
            #expect(failures.allSatisfy { $0.hasPrefix(expected) }, "\(failures)")
            #expect(server.connections == 2)
            server.play(.init())
            #expect(try await Self.deliver(server) == ["delivered"])
        }
    }

    @Test("A server that says nothing ends the attempt; one that is about to stop gets no further message")
    func endings() async throws {
        for play in [NATSServer.Play(greeting: ""), .init(answer: "")] {
            try await NATSServer.run(play) { server in
                let reasons = try await Self.deliver(server, limit: .milliseconds(300))
                #expect(reasons == ["timed_out"])
            }
        }
        try await NATSServer.run { server in
            server.play(.init(answer: NATSServer.info(#","ldm":true"#) + NATSServer.Play().answer))
            let reasons = try await Self.deliver(server, count: 2)
            #expect(reasons == ["delivered", "delivered"])
            #expect(server.connections == 2)
        }
    }

    @Test("TLS begins after the greeting; nothing is sent before the certificate is known to be the host's")
    func secure() async throws {
        let offer = NATSServer.info(#","tls_required":true"#)
        try await NATSServer.run(.init(greeting: offer, isSecure: true)) { server in
            #expect(
                try await Self.deliver(server, "tls", host: "hooks.example", count: 2) == ["delivered", "delivered"])
            #expect(server.connections == 1 && server.lines[0].contains(#""tls_required":true"#))
            let lines = server.lines.count
            for (host, trust) in [("other.example", ReceiverCertificate.authority), ("hooks.example", nil)] {
                let reasons = try await Self.deliver(server, "tls", host: host, trust: trust)
                #expect(reasons[0].hasPrefix("tls_failed"), "\(reasons)")
            }
            #expect(server.lines.count == lines)
        }
        for greeting in [NATSServer.info(), offer + "PING\r\n", offer + "+O"] {
            try await NATSServer.run(.init(greeting: greeting, isSecure: true)) { server in
                let reasons = try await Self.deliver(server, "tls", host: "hooks.example")
                #expect(reasons == ["tls_failed: the server offers no TLS"] && server.lines.isEmpty)
            }
        }
    }

    @Test(
        "Addresses that are not public are refused; names of this machine reach only this machine",
        arguments: [
            ("tls://hooks.example/a", "10.0.0.1"), ("tls://hooks.example/a", "127.0.0.1"),
            ("nats://localhost/a", "10.0.0.1"),
            ("nats://localhost/a", "8.8.8.8"), ("tls://10.0.0.1/a", "10.0.0.1"),
        ])
    func addresses(_ url: String, _ address: String) async throws {
        let resolver = NameResolver { _, port in [try SocketAddress(ipAddress: address, port: port)] }
        let client = try WebhookClient(WebhookWorld.webhook(url, allowed: []), resolver: resolver)
        defer { client.close() }
        #expect(await client.failure() == "address_refused: \(address)")
    }

    @Test("Settings name a subject and a file of credentials; what is not for NATS, or for NATS alone, is refused")
    func settings() {
        let file = "credentials_file: user.creds"
        let rows: KeyValuePairs = [
            "url: 'tls://Nats.example/events.game', \(file)": "tls://Nats.example/events.game 0 [] false",
            "url: 'nats://localhost:4222/a', secrets: \(WebhookWorld.secret)": "nats://localhost:4222/a 1 [] false",
            "url: 'nats://[::1]/a'": "nats://[::1]/a 0 [] false",
            "url: 'nats://nats.example/a', allow_hosts: [nats.example]":
                "nats://nats.example/a 0 [\"nats.example\"] false",
            "url: 'nats://nats.example/a'":
                "the url of a webhook of game begins with nats. Write tls, or allow_hosts: [nats.example]",
            "url: 'nats://127.0.0.1/a', tls_trust: ca.pem":
                "has tls_trust, and nats:// has no certificate. Write tls://",
            "url: 'https://example.com/', secrets: \(WebhookWorld.secret), \(file)":
                "has credentials_file, which is for NATS alone. Remove it",
            "url: 'tls://nats.example/a', credentials_file: secret":
                "credentials_file: '/etc/assay/secret' has no user JWT and seed. Name the .creds file",
            "url: 'tls://nats.example/a', credentials_file: none": "credentials_file: cannot be read: no such file",
            "url: 'tls://nats.example/a', secrets: [a, b, c]": "has 3 secrets",
            "url: 'tls://n.example/a' }\n      - { url: 'tls://N.example:4222/a'": "the same url",
            "url: 'tls://n.example/a' }\n      - { url: 'tls://n.example/b'": "have subjects of one server of NATS",
            "url: 'nats://nats.example/a', allow_hosts: [nats.example], \(file)": "nats:// would show them to others",
        ]
        for (webhook, expected) in rows {
            let read = WebhookFormTests.read("      - { \(webhook) }\n")
            #expect(read.contains(expected) && !read.contains(Self.seed), "\(webhook): \(read)")
        }
        for subject in [
            "", "/", "/a..b", "/.a", "/a.", "/a.*", "/a.%3E", "/a.>", "/$JS.API.INFO", "/_INBOX.a", "/a?b=c", "/a#b",
        ] {
            #expect(WebhookURL("tls://nats.example\(subject)") == nil, "\(subject)")
        }
    }
}
