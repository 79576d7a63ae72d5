import AppStoreSimulator
import Foundation
import ServerTestSupport
import Testing

@Suite("The simulator refuses other web pages")
struct RequestGateTests {
    /// One request of each kind.
    private static let requests: [(line: String, body: String)] = [
        ("GET / HTTP/1.1", ""), ("GET /healthz HTTP/1.1", ""), ("GET /trust.pem HTTP/1.1", ""),
        ("GET /openapi.yaml HTTP/1.1", ""), ("GET /control/state HTTP/1.1", ""),
        ("POST /control/apps HTTP/1.1", #"{"bundle_id":"a.b"}"#), ("POST /control/reset HTTP/1.1", ""),
        ("DELETE /control/faults HTTP/1.1", ""), ("POST /verifyReceipt HTTP/1.1", #"{"receipt-data":"AAAA"}"#),
        ("GET /verifyReceipt HTTP/1.1", ""), ("POST /sandbox/verifyReceipt HTTP/1.1", #"{"receipt-data":"AAAA"}"#),
        ("GET /no/such/route HTTP/1.1", ""),
    ]
    private static let json = "Content-Type: application/json"

    @Test("Every route answers 421 to a host that is not allowed, names the option, and does nothing")
    func rebinding() async throws {
        try await SimulatorClient.run { client in
            let before = try await client.get("/control/state").text
            for request in Self.requests {
                for host in [
                    "rebind.evil.example", "rebind.evil.example:\(client.http.port)", "localhost.evil.example",
                ] {
                    let answer = try await RawRequest.send(
                        [request.line, "Host: \(host)", Self.json], body: request.body, port: client.http.port)
                    #expect(answer.status == 421, "\(request.line) \(host)")
                    #expect(answer.code == "host_not_allowed")
                    #expect(answer.text.contains("--allow-host \(host.split(separator: ":")[0])"))
                }
            }
            #expect(try await client.get("/control/state").text == before)
        }
    }

    @Test(
        "Names that resemble a loopback name are refused",
        arguments: [
            "evil.localhost", "localhost.", "128.0.0.1", "126.255.255.255", "127.0.0.1.evil.example", "127.1",
            "2130706433",
            "0x7f.0.0.1", "[::2]", "[::ffff:8.8.8.8]", "10.0.0.1", "0.0.0.0", "[::]", "1127.0.0.1", "xn--lcalhost-54a",
        ])
    func otherNames(host: String) async throws {
        try await SimulatorClient.run { client in
            let answer = try await RawRequest.send(["GET /healthz HTTP/1.1", "Host: \(host)"], port: client.http.port)
            #expect(answer.status == 421)
        }
    }

    @Test("Loopback names and addresses are accepted, in any letter case and with any port")
    func loopback() async throws {
        try await SimulatorClient.run { client in
            for name in [
                "localhost", "LocalHost", "127.0.0.1", "127.0.0.2", "127.255.255.254", "[::1]", "[0:0:0:0:0:0:0:1]",
            ] {
                for port in ["", ":", ":\(client.http.port)", ":1"] {
                    let answer = try await RawRequest.send(
                        ["GET /healthz HTTP/1.1", "Host: \(name)\(port)"], port: client.http.port)
                    #expect(answer.status == 200, "\(name)\(port)")
                }
            }
        }
    }

    @Test("A request without a host, with two, or with a malformed one gets 400")
    func malformedHost() async throws {
        let lines: [[String]] = [
            [], ["Host: localhost", "Host: localhost"], ["Host: localhost", "host: rebind.evil.example"],
            ["Host: rebind.evil.example", "HOST: localhost"], ["Host:"], ["Host: localhost, evil.example"],
            ["Host: localhost:80:80"], ["Host: localhost:http"], ["Host: [::1"], ["Host: ::1"], ["Host: [::1]x"],
            ["Host: user@localhost"], ["Host: localhost/evil"], ["Host: l\u{F6}calhost"], ["Host: localhost:123456"],
            ["Host: \(String(repeating: "a", count: 254))"],
        ]
        try await SimulatorClient.run { client in
            for request in Self.requests {
                for hosts in lines {
                    let answer = try await RawRequest.send(
                        [request.line] + hosts + [Self.json], body: request.body, port: client.http.port)
                    #expect(answer.status == 400, "\(request.line) \(hosts)")
                    #expect(answer.code == "invalid_host")
                }
            }
            // The target of a request may also name a host (RFC 9112, 3.2.2). Browsers do that only for proxies; `Host`
            // counts.
            let absolute = try await RawRequest.send(
                ["GET http://localhost/control/state HTTP/1.1", "Host: rebind.evil.example"], port: client.http.port)
            #expect(absolute.status == 421)
        }
    }

    @Test("Names that the operator adds are accepted, in any letter case, and no others")
    func allowedHosts() async throws {
        let configuration = SimulatorClient.configuration {
            $0.allowedHosts = [
                "appstore.test", "Sandbox.iTunes.Apple.com", "192.0.2.7", "[2001:db8::7]", "2001:db8::8",
            ]
        }
        try await SimulatorClient.run(configuration) { client in
            for (host, status) in [
                ("appstore.test", 200), ("APPSTORE.test:8090", 200), ("sandbox.itunes.apple.com", 200),
                ("192.0.2.7", 200), ("[2001:DB8::7]:80", 200), ("[2001:db8::8]", 200), ("localhost", 200),
                ("www.appstore.test", 421), ("appstore.test.evil.example", 421), ("buy.itunes.apple.com", 421),
                ("192.0.2.70", 421), ("[2001:db8::9]", 421),
            ] {
                let answer = try await RawRequest.send(
                    ["POST /verifyReceipt HTTP/1.1", "Host: \(host)"], body: #"{"receipt-data":"AAAA"}"#,
                    port: client.http.port)
                #expect(answer.status == status, "\(host)")
            }
        }
    }

    @Test("The address of --host is an accepted name")
    func boundHost() async throws {
        let configuration = SimulatorClient.configuration { $0.host = "0.0.0.0" }
        try await SimulatorClient.run(configuration) { client in
            for (host, status) in [("0.0.0.0", 200), ("127.0.0.1", 200), ("rebind.evil.example", 421)] {
                let answer = try await RawRequest.send(
                    ["GET /healthz HTTP/1.1", "Host: \(host)"], port: client.http.port)
                #expect(answer.status == status, "\(host)")
            }
        }
    }

    @Test(
        "A malformed host name cannot be allowed",
        arguments: ["http://x", "a b", "", "x:80", "x/y", "l\u{F6}calhost", "*.test"])
    func impossibleHosts(host: String) async throws {
        #expect(throws: SimulatorConfigurationError.invalidHost(host)) {
            _ = try simulatorServer(
                SimulatorClient.configuration { $0.allowedHosts = [host] }, authority: try StoreWorld.authority(),
                logger: SimulatorClient.silent)
        }
    }

    @Test("Requests of a page of another origin, without rebinding, are refused and change nothing")
    func crossOrigin() async throws {
        let foreign: [[String]] = [
            ["Origin: https://evil.example"], ["Origin: null"], ["Origin: http://localhost:1"],
            ["Origin: http://127.0.0.1"],
            ["Sec-Fetch-Site: cross-site"], ["Sec-Fetch-Site: same-site"], ["Sec-Fetch-Site: CROSS-SITE"],
            ["Origin: http://localhost", "Sec-Fetch-Site: cross-site"],
            ["Origin: http://localhost", "Origin: http://x"],
        ]
        try await SimulatorClient.run { client in
            let before = try await client.get("/control/state").text
            for request in Self.requests {
                let isHarmless = ["/ ", "/healthz", "/trust", "/openapi", "/no/such", "/verifyReceipt"].contains {
                    request.line.hasPrefix("GET \($0)")
                }
                for headers in foreign {
                    let answer = try await RawRequest.send(
                        [request.line, "Host: localhost", Self.json] + headers, body: request.body,
                        port: client.http.port)
                    #expect((answer.code == "cross_origin") == !isHarmless, "\(request.line) \(headers)")
                    #expect((answer.status == 403) == !isHarmless)
                }
            }
            #expect(try await client.get("/control/state").text == before)
        }
    }

    @Test("The simulator's own page, and programs that are not browsers, may do everything")
    func sameOrigin() async throws {
        try await SimulatorClient.run { client in
            let port = client.http.port
            let own: [[String]] = [
                [], ["Origin: http://localhost:\(port)", "Sec-Fetch-Site: same-origin"],
                ["Origin: https://LOCALHOST:\(port)"], ["Sec-Fetch-Site: none"],
            ]
            for headers in own {
                let answer = try await RawRequest.send(
                    ["POST /control/reset HTTP/1.1", "Host: localhost:\(port)", Self.json] + headers, port: port)
                #expect(answer.status == 200, "\(headers)")
            }
        }
    }

    @Test("Targets are ASCII of bounded length, and headers are bounded")
    func targets() async throws {
        try await SimulatorClient.run { client in
            let port = client.http.port
            let marks = String(repeating: "\u{301}\u{316}", count: 300)
            for (target, status) in [
                ("/control/events?after=\(String(repeating: "1", count: 3000))", 414),
                ("//control/state", 400), ("/control//state", 400), ("///control/state?after=//", 400),
                ("/control/transactions/\(marks)", 400), ("/control/events?\(marks)=1", 400), ("*", 400),
                ("/control/transactions/\(String(repeating: "%CC%81", count: 300))", 404),
            ] {
                let answer = try await RawRequest.send(["GET \(target) HTTP/1.1", "Host: localhost"], port: port)
                #expect(answer.status == status, "\(target.prefix(40))")
            }
            for name in ["Origin", "Content-Type", "Expect", "Authorization", "X-Other"] {
                let header = "\(name): e\(String(repeating: "\u{301}\u{316}", count: 20_000))"
                let answer = try await RawRequest.send(
                    ["POST /control/reset HTTP/1.1", "Host: localhost", header], port: port)
                #expect((400...499).contains(answer.status), "\(name)")
            }
        }
    }
}
