import Foundation
import TestSupport
import Testing

@Suite("A server that was killed before it forwarded a notification")
struct ForwardRestartTests {
    /// Writes each body to `received`, once there is a file `open`; before that it refuses everything.
    private static let receiver = """
        import http.server, os, threading
        lock = threading.Lock()
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers['content-length']))
                isOpen = os.path.exists('open')
                if isOpen:
                    with lock: open('received', 'ab').write(body + b'\\n')
                self.send_response(200 if isOpen else 503)
                self.send_header('Content-Length', '0')
                self.end_headers()
            def log_message(self, *arguments): pass
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        print('http://127.0.0.1:%d' % server.server_port, flush=True)
        server.serve_forever()
        """

    private static func lines(_ file: String, _ folder: URL) -> [Substring] {
        // There is no file before the first delivery.
        let text = (try? String(contentsOf: folder.appending(path: file), encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map { $0 }
    }

    @Test(
        "28.3 What was answered 200 before kill -9 is forwarded after the restart, unchanged", arguments: [false, true])
    func killed(isPostgreSQL: Bool) async throws {
        guard isPostgreSQL else { return try await killed("sqlite:assay.sqlite") }
        try await ThrowawayPostgreSQL.withDatabase { try await killed($0.url()) }
    }

    private func killed(_ database: String) async throws {
        try await Program.inTemporaryFolder { folder in
            try Self.receiver.write(to: folder.appending(path: "receiver.py"), atomically: true, encoding: .utf8)
            try await RunningServer.run("python3 receiver.py", in: folder) { receiver in
                let settings = """
                    server:
                      trust: [assay-authority/trust.pem]
                    apps:
                      game:
                        bundle_ids: com.example.app
                        forward:
                          production:
                            - { url: "\(receiver.address)/apple", allow_hosts: [127.0.0.1] }
                    """
                try settings.write(to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
                let environment = ["ASSAY_DATABASE": database]
                let minted = try await Program.shell(
                    """
                    for n in 1 2 3 4 5; do
                      jws=$(assay mint --kind notification --bundle-id com.example.app --environment Production \
                        --notification-type TEST --created "2026-01-0${n}T12:00:00Z") || exit 1
                      printf '{ "signedPayload": "%s" }\\n' "$jws" >> sent
                    done
                    """, in: folder)
                try #require(minted.status == 0, "\(minted.output)")
                #expect(Set(Self.lines("sent", folder)).count == 5)
                try await RunningServer.run("assay serve --port 0 2>first", in: folder, environment: environment) {
                    server in
                    try await RecordCommandTests.wait {
                        try String(contentsOf: folder.appending(path: "first"), encoding: .utf8)
                            .contains("this server delivers to the webhook")
                    }
                    let posted = try await Program.shell(
                        """
                        while read -r line; do
                          printf '%s' "$line" | curl -sS -o /dev/null -w '%{http_code} ' --data-binary @- \
                            \(server.address)/notifications/v2
                        done < sent
                        """, in: folder)
                    #expect(posted.output == "200 200 200 200 200 ", "\(posted.output)")
                    _ = try await Program.shell("kill -KILL \(server.processIdentifier)", in: folder)
                }
                #expect(Self.lines("received", folder).isEmpty)
                _ = try await Program.shell("touch open", in: folder)
                try await RunningServer.run("assay serve --port 0 2>second", in: folder, environment: environment) {
                    server in
                    // What was tried once is tried again after five seconds.
                    try await RecordCommandTests.wait { Self.lines("received", folder).count >= 5 }
                    let listed = try await Program.shell(
                        "assay list webhooks --app game", in: folder, environment: environment)
                    #expect(listed.output.contains("(forward Production)"), "\(listed.output)")
                    // A reload replaces the URL; the new one gets what comes from then on.
                    try settings.replacing("/apple", with: "/other").write(
                        to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
                    _ = try await Program.shell("kill -HUP \(server.processIdentifier)", in: folder)
                    try await RecordCommandTests.wait {
                        let log = try String(contentsOf: folder.appending(path: "second"), encoding: .utf8)
                        return log.components(separatedBy: "this server delivers to the webhook").count == 3
                    }
                    let sixth = try await Program.shell(
                        """
                        jws=$(assay mint --kind notification --bundle-id com.example.app --environment Production \
                          --notification-type TEST --created 2026-01-06T12:00:00Z) && printf '{"signedPayload":"%s"}\\n' "$jws" >> sent
                        tail -n 1 sent | tr -d '\\n' | curl -sS -o /dev/null -w '%{http_code}' --data-binary @- \
                          \(server.address)/notifications/v2
                        """, in: folder)
                    #expect(sixth.output == "200", "\(sixth.output)")
                    try await RecordCommandTests.wait { Self.lines("received", folder).count >= 6 }
                }
                #expect(Set(Self.lines("received", folder)) == Set(Self.lines("sent", folder)))
            }
        }
    }
}
