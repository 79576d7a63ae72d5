import EvidenceMint
import Foundation
import Testing

extension DoctorTests {
    /// A store whose clock is 30 seconds behind this machine's, and which refuses every token.
    private static let slowStore = """
        import http.server, time
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.send_response(401)
                self.send_header("Content-Length", "0")
                self.end_headers()
            do_GET = do_POST
            def date_time_string(self, timestamp=None): return super().date_time_string(time.time() - 30)
            def log_message(self, *arguments): pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        print(f"ready on http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()
        """

    @Test("C.1 A clock ahead of the App Store's: one line of the log, a metric, /readyz and a line of the doctor")
    func appStoreClock() async throws {
        try await Self.installation { folder in
            try Self.slowStore.write(to: folder.appending(path: "store.py"), atomically: true, encoding: .utf8)
            let made = try await Program.shell(
                "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out AuthKey.p8 && chmod 600 AuthKey.p8",
                in: folder)
            try #require(made.status == 0, "\(made.output)")
            try await RunningServer.run("python3 store.py", in: folder) { store in
                func settings(_ port: Int) -> String {
                    Self.settings.replacing(
                        "server: { port: 0 }",
                        with: """
                            server: { port: \(port), admin: "\(folder.path)/a.sock" }
                            app_store: { server_api_production: "\(store.address)", server_api_sandbox: "\(store.address)" }
                            """
                    ).replacing(
                        "bundle_ids:",
                        with: "app_store_keys: [{ issuer_id: i, key_id: k, private_key_file: AuthKey.p8 }], bundle_ids:"
                    )
                }
                // `Date` has whole seconds, and the answer takes some time.
                let clock = try Regex("this machine's clock is (29|30|31) s ahead of the App Store's")
                try Self.write(settings(0), folder)
                let (stopped, _) = try await Self.examine(folder)
                #expect(stopped.finding("clock", "warning") == nil, "nothing was asked: \(stopped)")
                let (asked, _) = try await Self.examine(folder, "--ask-apple")
                #expect(asked.finding("clock", "warning")?.found.wholeMatch(of: clock) != nil, "\(asked)")
                #expect(asked.finding("clock", "warning")?.action?.contains("NTP") == true, "\(asked)")
                #expect(asked.finding("app_store", "failed")?.found.contains(clock) == true, "\(asked)")
                try await RunningServer.run("assay serve --log-level warning 2>log", in: folder) { server in
                    // The server asks for the notifications that it missed.
                    let known = try await Program.shell(
                        """
                        for i in $(seq 300); do curl -s \(server.address)/readyz | grep clock_skew && break; sleep 0.1; done
                        """, in: folder)
                    #expect(known.output.contains(/"app_store_clock_skew_seconds":(29|30|31)}/), "\(known.output)")
                    let metrics = try await Program.shell(
                        "curl -s --unix-socket a.sock http://localhost/metrics | grep ^assay_app_store_clock",
                        in: folder)
                    #expect(
                        metrics.output.contains(/assay_app_store_clock_skew_seconds (29|30|31)/), "\(metrics.output)")
                    try Self.write(settings(try #require(URL(string: server.address)?.port)), folder)
                    let (report, _) = try await Self.examine(folder)
                    #expect(report.finding("clock", "warning")?.found.wholeMatch(of: clock) != nil, "\(report)")
                }
                let lines = try await Program.shell("grep -cE \"clock is (29|30|31) s ahead\" log; cat log", in: folder)
                #expect(lines.output.hasPrefix("1\n"), "\(lines.output)")
            }
        }
    }
}
