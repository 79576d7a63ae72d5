import AppStoreSimulator
import EvidenceMint
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServerTestSupport
import Testing

@Suite("28.4 Each attempt has Apple's name of its result")
struct SendAttemptTests {
    /// Sends one notification of the sandbox to a server, and returns the result.
    private static func result(_ configuration: SimulatorConfiguration) async throws -> String {
        let result = Box<String>()
        try await SimulatorClient.run(configuration) { client in
            try await client.openShop()
            try await client.buy("coins", by: "tester")
            try await client.deliver()
            result.value = try await client.latestResults().joined(separator: " ")
        }
        return try #require(result.value)
    }

    @Test("28.4 The statuses 200 to 206 are accepted, and no other")
    func statuses() async throws {
        let statuses = Array(200...208) + [226, 299, 300, 303, 304, 400, 401, 404, 410, 413, 429, 500, 502, 503, 599]
        let receiver = NotificationReceiver { _, number in .init(status: .init(code: statuses[number - 1])) }
        try await receiver.run { port in
            try await SimulatorClient.run(DeliveryWorld.configuration(port)) { client in
                try await client.openShop()
                for status in statuses {
                    try await client.buy("coins", by: "tester")
                    try await client.deliver()
                    let notification = try #require(try await client.notifications().last)
                    let attempt = try #require((notification["attempts"] as? [[String: Any]])?.first)
                    let isAccepted = (200...206).contains(status)
                    let result = attempt["result"] as? String
                    #expect(
                        result == (isAccepted ? "SUCCESS" : "UNSUCCESSFUL_HTTP_RESPONSE_CODE"), "\(status): \(attempt)")
                    #expect(attempt["status"] as? Int == status)
                    #expect(notification["state"] as? String == (isAccepted ? "accepted" : "failed"))
                }
            }
        }
    }

    @Test("28.4 Redirects are followed as a POST, five at most, and circular ones are named")
    func redirects() async throws {
        let receiver = NotificationReceiver { path, _ in
            func redirect(_ status: Int, _ location: String?) -> Response {
                var headers = HTTPFields()
                headers[.location] = location
                return Response(status: .init(code: status), headers: headers)
            }
            switch path {
            case "/moved": return redirect(301, "/accepted")
            case "/found": return redirect(302, "accepted")
            case "/temporary": return redirect(307, "/moved")
            case "/permanent": return redirect(308, "/temporary")
            case "/other": return redirect(303, "/accepted")
            case "/nowhere": return redirect(307, nil)
            case "/elsewhere": return redirect(307, "ftp://127.0.0.1/")
            case "/itself": return redirect(307, "/itself")
            case "/there": return redirect(307, "/back")
            case "/back": return redirect(308, "/there")
            case _ where path.hasPrefix("/step"):
                let left = Int(path.dropFirst(5)) ?? 0
                return redirect(307, left == 0 ? "/accepted" : "/step\(left - 1)")
            default: return Response(status: .ok)
            }
        }
        try await receiver.run { port in
            for (path, expected) in [
                ("/moved", "SUCCESS"), ("/found", "SUCCESS"), ("/temporary", "SUCCESS"), ("/permanent", "SUCCESS"),
                ("/other", "UNSUCCESSFUL_HTTP_RESPONSE_CODE"), ("/nowhere", "INVALID_RESPONSE"),
                ("/elsewhere", "INVALID_RESPONSE"), ("/itself", "CIRCULAR_REDIRECT"), ("/there", "CIRCULAR_REDIRECT"),
                ("/step4", "SUCCESS"), ("/step5", "CIRCULAR_REDIRECT"),
            ] {
                let result = try await Self.result(DeliveryWorld.configuration(port, path: path))
                #expect(result == expected, "\(path)")
            }
            #expect(Set(receiver.arrivals.map(\.payload)).count == 11)
        }
    }

    @Test("28.4 Over TLS only a trusted, valid certificate of the right host is accepted")
    func tls() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-\(UUID().uuidString)")
        let authority = try ServerCertificateAuthority(folder: folder)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let trust = folder.appending(path: ServerCertificateAuthority.trustFile).path
        let day = 86_400.0
        let expired = try authority.certificate(
            for: ["127.0.0.1"], notBefore: Date(timeIntervalSinceNow: -9 * day),
            notAfter: Date(timeIntervalSinceNow: -day))
        let stranger = try ServerCertificateAuthority().certificate(for: ["127.0.0.1"])
        let cases: [(SigningIdentity?, String)] = [
            (try authority.certificate(for: ["127.0.0.1"]), "SUCCESS"),
            (try authority.certificate(for: ["wrong.example"]), "TLS_ISSUE"), (expired, "TLS_ISSUE"),
            (stranger, "TLS_ISSUE"), (nil, "TLS_ISSUE"),
        ]
        for (certificate, expected) in cases {
            let receiver = NotificationReceiver()
            try await receiver.run(certificate: certificate) { port in
                let configuration = DeliveryWorld.configuration(port, scheme: "https") {
                    $0.notificationTrustFile = trust
                }
                let result = try await Self.result(configuration)
                #expect(result == expected)
                #expect(receiver.arrivals.count == (expected == "SUCCESS" ? 1 : 0))
            }
        }
    }

    @Test("28.4 A redirect from HTTPS to HTTP is not followed")
    func downgrade() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-\(UUID().uuidString)")
        let authority = try ServerCertificateAuthority(folder: folder)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let plain = NotificationReceiver()
        try await plain.run { plainPort in
            let receiver = NotificationReceiver { _, _ in
                Response(status: .temporaryRedirect, headers: [.location: "http://127.0.0.1:\(plainPort)/"])
            }
            try await receiver.run(certificate: try authority.certificate(for: ["127.0.0.1"])) { port in
                let configuration = DeliveryWorld.configuration(port, scheme: "https") {
                    $0.notificationTrustFile = folder.appending(path: ServerCertificateAuthority.trustFile).path
                }
                let result = try await Self.result(configuration)
                #expect(result == "UNSUCCESSFUL_HTTP_RESPONSE_CODE")
            }
        }
        #expect(plain.arrivals.isEmpty)
    }

    @Test(
        "28.4 Broken connections and answers are named",
        arguments: [
            ("", true, "NO_RESPONSE"), ("HTTP/1.1 200 OK\r\nContent-Le", true, "PREMATURE_CLOSE"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", true, "PREMATURE_CLOSE"),
            ("SMTP ready, and no HTTP at all\r\n\r\n", true, "INVALID_RESPONSE"), ("", false, "TIMED_OUT"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", false, "TIMED_OUT"),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Type: text/plain; charset=\"EBCDIC-2\"\r\n\r\n", false,
                "UNSUPPORTED_CHARSET"
            ),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Type: text/plain;charset=UTF-8\r\n\r\n", false,
                "SUCCESS"
            ),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", false, "INVALID_RESPONSE"),
        ])
    func brokenAnswers(bytes: String, closes: Bool, expected: String) async throws {
        try await RawReceiver(bytes: bytes, closes: closes).run { port in
            let configuration = DeliveryWorld.configuration(port) {
                if expected == "TIMED_OUT" { $0.notificationTimeLimit = .milliseconds(500) }
            }
            let result = try await Self.result(configuration)
            #expect(result == expected)
        }
    }

    @Test("28.4 A server that is not there is a socket issue, and what cannot be sent is another result")
    func nobody() async throws {
        #expect(try await Self.result(DeliveryWorld.configuration(1)) == "SOCKET_ISSUE")
        let receiver = NotificationReceiver()
        try await receiver.run { port in
            try await SimulatorClient.run(DeliveryWorld.configuration(port)) { client in
                try await client.openShop()
                // A notification of the type TEST has no nested data to forge.
                try await client.post(
                    "/control/faults/evidence", ["kind": "notification", "fault": "forged-nested-data"])
                try await client.post("/control/notifications", ["bundle_id": StoreWorld.app, "type": "TEST"])
                try await client.deliver()
                #expect(try await client.latestResults() == ["OTHER"])
                #expect(receiver.arrivals.isEmpty)
            }
        }
    }
}
