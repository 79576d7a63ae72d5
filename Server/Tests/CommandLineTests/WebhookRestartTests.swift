import Foundation
import TestSupport
import Testing

@Suite("A server that was killed while it delivered to a webhook")
struct WebhookRestartTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="

    /// Writes the id and the customer of each delivery to `received`.
    private static let receiver = """
        import http.server, json, threading
        lock = threading.Lock()
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers['content-length'])))
                with lock: open('received', 'a').write(self.headers['webhook-id'] + ' ' + body['customer_id'] + '\\n')
                self.send_response(204)
                self.send_header('Content-Length', '0')
                self.end_headers()
            def log_message(self, *arguments): pass
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        print('http://127.0.0.1:%d' % server.server_port, flush=True)
        server.serve_forever()
        """

    private static func received(_ folder: URL) -> [Substring] {
        // There is no file before the first delivery.
        let text = (try? String(contentsOf: folder.appending(path: "received"), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map { $0 }
    }

    private static func inFolder(
        isPostgreSQL: Bool = false, _ body: (URL, [String: String]) async throws -> Void
    ) async throws {
        guard isPostgreSQL else { return try await inFolder("sqlite:assay.sqlite", body) }
        try await ThrowawayPostgreSQL.withDatabase { try await inFolder($0.url(), body) }
    }

    private static func inFolder(
        _ database: String, _ body: (URL, [String: String]) async throws -> Void
    ) async throws {
        try await Program.inTemporaryFolder { folder in
            try receiver.write(to: folder.appending(path: "receiver.py"), atomically: true, encoding: .utf8)
            try await RunningServer.run("python3 receiver.py", in: folder) { receiver in
                let settings = """
                    apps:
                      game:
                        bundle_ids: com.example.app
                        products:
                          coins: { kind: consumable }
                        webhooks:
                          - { url: "\(receiver.address)/hook", secrets: [env:HOOK], allow_hosts: [127.0.0.1] }
                    """
                try settings.write(to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
                let environment = ["HOOK": secret, "ASSAY_DATABASE": database]
                _ = try await Program.shell(
                    "assay keys create --app game --scope admin 2>/dev/null >key", in: folder, environment: environment)
                try await body(folder, environment)
            }
        }
    }

    private static func delivers(_ log: String, _ folder: URL) async throws {
        try await RecordCommandTests.wait {
            try String(contentsOf: folder.appending(path: log), encoding: .utf8)
                .contains("this server delivers to the webhook")
        }
    }

    private static func order(_ customers: String, _ server: RunningServer) -> String {
        """
        \(customers) | xargs -P 8 -I{} curl -sS -o /dev/null -H "Authorization: Bearer $(cat key)" \
        -H 'Idempotency-Key: {}' --data '{"customer_id":"{}","product_id":"coins"}' \(server.address)/v1/orders \
        2>/dev/null
        """
    }

    /// The time at which a server wrote a line of its log.
    private static func time(of message: String, _ log: String, _ folder: URL) throws -> Date {
        let text = try String(contentsOf: folder.appending(path: log), encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.contains(message) }, "\(text)")
        let stamp = String(line.prefix { $0 != " " })
        return try Date(stamp, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    @Test(
        "D.2 After kill -9 a server takes its own webhook lease at once, and repeats few deliveries",
        arguments: [false, true])
    func killed(isPostgreSQL: Bool) async throws {
        try await Self.inFolder(isPostgreSQL: isPostgreSQL) { folder, environment in
            var killed = Date.distantPast
            try await RunningServer.run("assay serve --port 0 2>first", in: folder, environment: environment) {
                server in
                try await Self.delivers("first", folder)
                let orders = Self.order("seq 1 2000", server)
                async let posted = Program.shell(orders, in: folder, environment: environment)
                try await RecordCommandTests.wait { Self.received(folder).count >= 1000 }
                _ = try await Program.shell("kill -KILL \(server.processIdentifier)", in: folder)
                killed = Date()
                _ = try await posted
            }
            let restarted = Date()
            let before = Self.received(folder).count
            try await RunningServer.run("assay serve --port 0 2>second", in: folder, environment: environment) {
                server in
                let start = ContinuousClock.now
                _ = try await Program.shell(Self.order("echo last", server), in: folder, environment: environment)
                try await RecordCommandTests.wait { Self.received(folder).contains { $0.hasSuffix(" last") } }
                let duration = ContinuousClock.now - start
                let received = Self.received(folder)
                let repeated = received.count - Set(received).count
                let taken = try Self.time(of: "this server delivers to the webhook", "second", folder)
                print(
                    "\(isPostgreSQL ? "PostgreSQL" : "SQLite"): killed after \(before) deliveries; the lease was taken "
                        + "\(taken.timeIntervalSince(restarted)) s after the restart, \(taken.timeIntervalSince(killed)) s "
                        + "after the kill; a new event was delivered after \(duration), \(repeated) were repeated")
                #expect(taken.timeIntervalSince(restarted) < 20, "a lease lasts 60 seconds")
                #expect(duration < .seconds(20), "a lease lasts 60 seconds")
                // 64, and twice as many for each fifth of a second that one delivery takes on a busy machine.
                #expect(repeated <= 256)
            }
        }
    }

    @Test("D.2 A server that is started while the old one still lives waits until it stops")
    func replaced() async throws {
        try await Self.inFolder { folder, environment in
            try await RunningServer.run("assay serve --port 0 2>first", in: folder, environment: environment) { first in
                try await Self.delivers("first", folder)
                try await RunningServer.run("assay serve --port 0 2>second", in: folder, environment: environment) {
                    second in
                    _ = try await Program.shell(Self.order("seq 1 20", second), in: folder, environment: environment)
                    try await RecordCommandTests.wait { Set(Self.received(folder)).count >= 20 }
                    let waiting = try String(contentsOf: folder.appending(path: "second"), encoding: .utf8)
                    #expect(!waiting.contains("this server delivers to the webhook"))
                    _ = try await Program.shell("kill -TERM \(first.processIdentifier)", in: folder)
                    try await Self.delivers("second", folder)
                    _ = try await Program.shell(Self.order("echo last", second), in: folder, environment: environment)
                    try await RecordCommandTests.wait { Self.received(folder).contains { $0.hasSuffix(" last") } }
                    let received = Self.received(folder)
                    #expect(received.count == Set(received).count, "a delivery was repeated")
                }
            }
        }
    }
}
