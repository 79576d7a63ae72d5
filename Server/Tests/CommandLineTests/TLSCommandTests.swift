import EvidenceMint
import Foundation
import TestSupport
import Testing

/// `server.tls` and `server.admin`, as `assay serve` and `assay doctor` say what is wrong with them.
@Suite("31.3 TLS and the listener for operators, on the command line")
struct TLSCommandTests {
    private static let settings = """
        server:
          port: 0
          tls: { certificate: tls.pem, key: tls.key }
        """

    /// Writes settings, a certificate for localhost and its key.
    private static func write(
        _ folder: URL, settings: String = settings, notAfter: Date = Date().addingTimeInterval(90 * 86_400),
        authority: ServerCertificateAuthority? = nil
    ) throws {
        try settings.write(to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
        let authority = try authority ?? ServerCertificateAuthority()
        let made = try authority.certificate(
            for: ["localhost", "127.0.0.1"], notBefore: Date().addingTimeInterval(-40 * 86_400), notAfter: notAfter)
        for (name, bytes) in [("tls.pem", made.certificate), ("root.pem", authority.root.certificate)] {
            let base64 = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            let pem = "-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n"
            try pem.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
        }
        let key = folder.appending(path: "tls.key")
        try made.privateKey.pem.write(to: key, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: key.path)
    }

    @Test("Each mistake has its line, its file and what to do, and nothing is started")
    func mistakes() async throws {
        let remedy = "Name the PEM file of the certificate's private key, which only the server's user can read."
        for (change, expected) in [
            ("chmod 644 tls.key", "tls.key': has mode 0644 and must have 0600; run chmod 600. \(remedy)"),
            ("rm tls.pem", "line 3: server.tls.certificate '"),
            ("rm tls.key", "line 3: server.tls.key '"),
            ("cp tls.key tls.pem", "tls.pem' has no certificates in PEM. Name the file with the server's certificate"),
            ("cp root.pem tls.key; chmod 600 tls.key", "tls.key' has no private key in PEM. \(remedy)"),
            ("cp root.pem tls.pem", "is not the key of the certificate in"),
            ("sed -i 's/, key: tls.key//' assay.yaml", "server.tls has only one of its two files. Write both"),
            ("sed -i 's/key: tls.key/kye: tls.key/' assay.yaml", "tls has no setting 'kye'"),
        ] {
            try await Program.inTemporaryFolder { folder in
                try Self.write(folder)
                let result = try await Program.shell("\(change); assay serve", in: folder)
                #expect(result.status == 2 && result.output.contains(expected), "\(change): \(result.output)")
                let made = try await Program.shell("ls *.sqlite 2>/dev/null", in: folder)
                #expect(made.output.isEmpty)
            }
        }
    }

    @Test("The program answers over TLS only, also after SIGHUP with another certificate")
    func reload() async throws {
        try await Program.inTemporaryFolder { folder in
            try Self.write(folder)
            try await HTTPSServer.run("assay serve 2>log", in: folder) { server in
                let ask = "curl -sS --cacert root.pem https://localhost:\(server.port)/healthz"
                #expect(try await Program.shell(ask, in: folder).output == #"{"status":"ok"}"#)
                let plain = try await Program.shell("curl -sS http://localhost:\(server.port)/healthz", in: folder)
                #expect(plain.status != 0)
                // Only the settings that SIGHUP reads name the new files.
                try FileManager.default.createDirectory(
                    at: folder.appending(path: "next"), withIntermediateDirectories: true)
                try Self.write(folder.appending(path: "next"))
                try Self.settings.replacing("tls.", with: "next/tls.").write(
                    to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
                let next = try await Program.shell(
                    """
                    kill -HUP \(server.processIdentifier)
                    until curl -sS --cacert next/root.pem https://localhost:\(server.port)/healthz 2>/dev/null
                    do sleep 0.05; done
                    """, in: folder)
                #expect(next.output == #"{"status":"ok"}"#)
                let before = try await Program.shell(ask, in: folder)
                #expect(before.status != 0, "the certificate before is still served")
            }
        }
    }

    @Test("Metrics are on the address of server.admin, which the log names, and on a socket of mode 0660")
    func admin() async throws {
        try await Program.inTemporaryFolder { folder in
            try await RunningServer.run("assay serve --port 0 2>log", in: folder) { server in
                let script = """
                    address=$(sed -n 's|.*metrics and health are open.*\\(http://127.0.0.1:[0-9]*\\).*|\\1|p' log)
                    curl -sS $address/metrics | grep '^assay_build_info{version="0'
                    curl -sS -o /dev/null -w '%{http_code}' \(server.address)/metrics
                    """
                let output = try await Program.shell(script, in: folder).output
                #expect(output.contains(#"commit=""#) && output.hasSuffix("404"), "\(output)")
            }
            let socket = folder.appending(path: "admin.sock").path
            try await RunningServer.run("assay serve --port 0 --admin \(socket) 2>log", in: folder) { _ in
                let asked = try await Program.shell(
                    "curl -sS --unix-socket \(socket) http://x/readyz; stat -c ' %a' \(socket)", in: folder)
                #expect(asked.output == "{\"status\":\"ready\"} 660\n", "\(asked.output)")
                let second = try await Program.shell(
                    "assay serve --port 0 --database sqlite:other.sqlite --admin \(socket); ls other.sqlite",
                    in: folder)
                #expect(second.output.contains("admin_address_in_use: "), "\(second.output)")
                #expect(second.output.contains("No such file"), "\(second.output)")
            }
            #expect(!FileManager.default.fileExists(atPath: socket))
        }
    }

    @Test("A second server with the same address for operators says which, and what to do")
    func busy() async throws {
        try await Program.inTemporaryFolder { folder in
            try await RunningServer.run("assay serve --port 0 2>log", in: folder) { _ in
                let script = """
                    port=$(sed -n 's|.*metrics and health are open.*http://127.0.0.1:\\([0-9]*\\).*|\\1|p' log)
                    echo $port; assay serve --port 0 --database sqlite:other.sqlite --admin 127.0.0.1:$port
                    """
                let result = try await Program.shell(script, in: folder)
                let lines = result.output.split(separator: "\n")
                let place = "127.0.0.1:\(lines.first ?? "")"
                #expect(
                    result.status == 2
                        && lines.last
                            == """
                            assay: admin_address_in_use: the address for metrics and health, \(place) is in use, probably by \
                            another server on this machine; choose another in server.admin (--admin), or turn it off with \
                            --admin off
                            """,
                    "\(result.output)")
            }
        }
    }

    /// A listening socket on a port of this machine, 0 for any; `nil` if another program has it.
    private static func hold(_ port: UInt16) -> (socket: Int32, port: UInt16)? {
        #if canImport(Darwin)
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        (address.sin_family, address.sin_port) = (sa_family_t(AF_INET), port.bigEndian)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) | listen(descriptor, 1) | getsockname(descriptor, address, &size)
            }
        }
        guard status == 0 else {
            close(descriptor)
            return nil
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    @Test(
        "10 A server whose standard address for operators is taken uses a free one and says so; doctor finds it ready")
    func standardIsTaken() async throws {
        let taken = Self.hold(8081)
        defer { if let taken { close(taken.socket) } }
        let free = try #require(Self.hold(0))
        close(free.socket)
        try await Program.inTemporaryFolder { folder in
            let doctor = try await Program.shell("assay doctor --no-deliveries 2>&1", in: folder)
            #expect(doctor.output.contains("another program has 127.0.0.1:8081"), "\(doctor.output)")
            try await RunningServer.run("assay serve --port \(free.port) 2>log", in: folder) { _ in
                let script = "sed -n 's|.*another program has 127.0.0.1:8081: .* are on ||p' log"
                let address = try await Program.shell(script, in: folder).output.trimmingCharacters(in: .newlines)
                let asked = try await Program.shell("curl -sS \(address)/readyz", in: folder)
                #expect(asked.output.contains("ready"), "\(address): \(asked.output)")
                let running = try await Program.shell(
                    "ASSAY_PORT=\(free.port) assay doctor --no-deliveries", in: folder)
                #expect(
                    running.output.contains("the server is ready on 127.0.0.1:\(free.port)"), "\(running.output)")
                let missing = try await Program.shell("curl -sS \(address)/nowhere", in: folder)
                #expect(missing.output.contains("this listener has /console, /metrics"), "\(missing.output)")
            }
        }
    }

    @Test("assay doctor says when the certificate ends, and finds a key that others can read")
    func doctor() async throws {
        try await Program.inTemporaryFolder { folder in
            for (days, state) in [(-1.0, "failed"), (7, "warning"), (90, "fine")] {
                try Self.write(folder, notAfter: Date().addingTimeInterval(days * 86_400))
                let report = try await Program.shell("assay doctor 2>/dev/null", in: folder)
                let line = report.output.split(separator: "\n").first { $0.contains("server.tls, ") }
                #expect(line?.hasPrefix(state) == true, "\(report.output)")
                #expect(report.output.contains("only its owner can read the key of server.tls"), "\(report.output)")
            }
            let open = try await Program.shell("chmod 644 tls.key; assay doctor", in: folder)
            #expect(open.status == 1 && open.output.contains("has mode 0644"), "\(open.output)")
        }
    }

    /// A server whose first line has an address of HTTPS.
    private struct HTTPSServer {
        let port: Int
        let processIdentifier: pid_t

        static func run(
            _ command: String, in folder: URL, _ body: (HTTPSServer) async throws -> Void
        ) async throws {
            let process = ChildProcess()
            process.arguments = ["-c", "exec \(command) >ready"]
            process.folder = folder
            process.environment = ["PATH": Program.path]
            try process.run()
            defer { process.terminate() }
            let script =
                "for i in $(seq 2400); do grep -q ready ready 2>/dev/null && break; sleep 0.05; done; cat ready"
            let line = try await Program.shell(script, in: folder).output
            let address = line.split(whereSeparator: \.isWhitespace).last.flatMap { URL(string: String($0)) }
            #expect(address?.scheme == "https")
            try await body(
                HTTPSServer(port: try #require(address?.port), processIdentifier: process.processIdentifier))
        }
    }
}
