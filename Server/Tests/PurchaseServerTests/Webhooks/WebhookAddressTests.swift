import Foundation
import NIOCore
import PurchaseLedger
import PurchaseServer
import Synchronization
import Testing

@Suite("Where webhooks may be sent")
struct WebhookAddressTests {
    /// The reason of the first failed attempt of an event to a webhook.
    private func refusal(
        _ webhook: Webhook, _ resolver: NameResolver = .system, attemptLimit: TimeAmount = .minutes(10)
    ) async throws -> String {
        let client = try WebhookClient(webhook, resolver: resolver, attemptLimit: attemptLimit)
        defer { client.close() }
        return await client.failure() ?? "delivered"
    }

    @Test(
        "Addresses that are not public are refused before any connection, unless the host is allowed by name",
        arguments: [
            "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.1.2.3", "169.254.169.254", "172.16.0.1",
            "172.31.255.255", "192.168.1.1", "192.0.0.1", "198.18.0.1", "224.0.0.1", "255.255.255.255", "::", "::1",
            "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "fe80::1", "fc00::1", "fd12::1", "fec0::1", "ff02::1",
            "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::1", "2001::1", "2001:db8::1", "100::1",
        ])
    func refusedAddresses(_ address: String) async throws {
        let target = try SocketAddress(ipAddress: address, port: 1)
        let host = address.contains(":") ? "[\(address)]" : address
        for url in ["https://hooks.example/", "https://\(host)/"] {
            let resolver = NameResolver { _, _ in [target] }
            let webhook = try WebhookWorld.webhook(url, allowed: [])
            let reason = try await refusal(webhook, resolver)
            #expect(reason.hasPrefix("address_refused: "), "\(url): \(reason)")
        }
    }

    @Test(
        "Public addresses are not refused",
        arguments: ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2600::1", "2a00:1450::1"])
    func publicAddresses(_ address: String) async throws {
        #expect(WebhookClient.isPublic(try SocketAddress(ipAddress: address, port: 1)))
    }

    @Test("A name that resolves to this machine is refused, as the system resolves it")
    func localhost() async throws {
        try await WebhookReceiver.run { receiver in
            let webhook = try WebhookWorld.webhook("https://localhost:\(receiver.port)/", allowed: [])
            do {
                let reason = try await refusal(webhook)
                #expect(reason.hasPrefix("address_refused"), "\(reason)")
            }
            #expect(receiver.connections == 0)
        }
    }

    @Test("The name is resolved once for a connection, and the connection goes to that very address, under the name")
    func pinned() async throws {
        try await WebhookReceiver.run(tls: true) { receiver in
            let count = Mutex(0)
            let port = receiver.port
            let resolver = NameResolver { host, _ in
                #expect(host == "hooks.example")
                count.withLock { $0 += 1 }
                return [try SocketAddress(ipAddress: "127.0.0.1", port: port)]
            }
            let webhook = try WebhookWorld.webhook(
                "https://hooks.example:\(port)/x", trusting: ReceiverCertificate.authority)
            try await WebhookWorld.run(on: [.sqlite]) { world in
                try await world.delivering(to: webhook, resolver: resolver) { _ in
                    for _ in 0..<5 { try await world.order("alice") }
                    try await receiver.wait("five") { $0.count == 5 }
                }
            }
            #expect(receiver.deliveries.allSatisfy { $0.headers["host"] == "hooks.example:\(port)" })
            #expect(count.withLock { $0 } == receiver.connections)
        }
    }

    @Test("A certificate of an authority that is not trusted, or of another name, is refused; nothing is sent")
    func certificates() async throws {
        try await WebhookReceiver.run(tls: true) { receiver in
            let port = receiver.port
            let resolver = NameResolver { _, _ in [try SocketAddress(ipAddress: "127.0.0.1", port: port)] }
            let untrusted = try WebhookWorld.webhook("https://hooks.example:\(port)/")
            do {
                let reason = try await refusal(untrusted, resolver)
                #expect(reason.hasPrefix("tls_failed"), "\(reason)")
            }
            let misnamed = try WebhookWorld.webhook(
                "https://other.example:\(port)/", allowed: ["other.example"],
                trusting: ReceiverCertificate.authority)
            do {
                let reason = try await refusal(misnamed, resolver)
                #expect(reason.hasPrefix("tls_failed"), "\(reason)")
            }
            #expect(receiver.deliveries.isEmpty)
            // The address is in the certificate.
            let address = try WebhookWorld.webhook(
                "https://127.0.0.1:\(port)/", trusting: ReceiverCertificate.authority)
            #expect(try await refusal(address) == "delivered")
        }
    }

    @Test(
        "A name of a certificate is the host's, or has * instead of the first label",
        arguments: [
            ("hooks.example", "hooks.example", true), ("HOOKS.Example.", "hooks.example", true),
            ("hooks.example", "hooks.example.", true), ("*.example.com", "hooks.example.com", true),
            ("*.example.com", "example.com", false), ("*.example.com", "a.hooks.example.com", false),
            ("*.example.com", ".example.com", false), ("h*.example.com", "hooks.example.com", false),
            ("*", "example", false), ("", "hooks.example", false), ("hooks.example\0.evil", "hooks.example", false),
        ])
    func certificateNames(_ name: String, _ host: String, _ matches: Bool) {
        #expect(CertificateName.matches(Array(name.utf8), host: Array(host.utf8)) == matches)
    }

    @Test("An answer that arrives byte by byte ends with the attempt, and endless headers are refused")
    func endlessAnswers() async throws {
        try await WebhookReceiver.run { receiver in
            let webhook = try WebhookWorld.webhook("http://127.0.0.1:\(receiver.port)/")
            receiver.react { _, _ in .drip("HTTP/1.1 204 No Content\r\nx: ") }
            let slow = try await refusal(webhook, attemptLimit: .milliseconds(500))
            // On a busy machine the client sees the end of the connection first.
            let failures = ["timed_out", "connection_failed", "answer_malformed"]
            #expect(failures.contains { slow.hasPrefix($0) }, "\(slow)")
            // An informational answer before the answer is skipped, and without a final answer there is none.
            receiver.react { _, _ in .raw("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n") }
            #expect(try await refusal(webhook) == "delivered")
            receiver.react { _, _ in .drip("HTTP/1.1 100 Continue\r\n\r\n") }
            let informational = try await refusal(webhook, attemptLimit: .milliseconds(500))
            #expect(failures.contains { informational.hasPrefix($0) }, "\(informational)")
            receiver.react { _, _ in
                .raw("HTTP/1.1 204 No Content\r\n" + String(repeating: "x: a\r\n", count: 50_000))
            }
            // The end of the connection can be seen before the headers are read.
            let reason = try await refusal(webhook)
            #expect(reason == "answer_malformed" || reason.hasPrefix("connection_failed"), "\(reason)")
        }
    }

    @Test("B.5 Interim answers without end are counted, and end the exchange")
    func interimAnswers() async throws {
        try await WebhookReceiver.run { receiver in
            let webhook = try WebhookWorld.webhook("http://127.0.0.1:\(receiver.port)/")
            for interim in ["100 Continue", "102 Processing", "103 Early Hints\r\nlink: </a>", "199 Other"] {
                for (count, outcome) in [
                    (1, "delivered"), (8, "delivered"), (9, "answer_malformed"), (10_000, "answer_malformed"),
                ] {
                    let text = String(repeating: "HTTP/1.1 \(interim)\r\n\r\n", count: count)
                    receiver.react { _, _ in .raw(text + "HTTP/1.1 204 No Content\r\n\r\n") }
                    let found = try await refusal(webhook)
                    #expect(found == outcome, "\(count) of \(interim)")
                }
            }
        }
    }

    @Test("A host that speaks no TLS, a name without addresses, and a name server that does not answer")
    func otherFailures() async throws {
        try await WebhookReceiver.run { receiver in
            let plain = try WebhookWorld.webhook("https://127.0.0.1:\(receiver.port)/")
            do {
                let reason = try await refusal(plain)
                #expect(reason.hasPrefix("tls_failed"), "\(reason)")
            }
        }
        let webhook = try WebhookWorld.webhook("https://hooks.example/")
        #expect(try await refusal(webhook, NameResolver { _, _ in [] }) == "name_not_resolved")
        let silent = NameResolver { _, _ in
            try await Task.sleep(for: .seconds(5))
            return []
        }
        #expect(try await refusal(webhook, silent, attemptLimit: .milliseconds(300)) == "timed_out")
    }
}
