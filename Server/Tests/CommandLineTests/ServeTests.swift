import Foundation
import PurchaseServer
import TestSupport
import Testing

@Suite("assay serve")
struct ServeTests {
    private static let trusting = "assay serve --port 0 --trust assay-authority/root.pem"

    @Test("It prints its address, answers, and stops cleanly on a signal")
    func answersAndStops() async throws {
        try await Program.inTemporaryFolder { folder in
            let mint = #"assay mint --kind production -o r.b64; printf '{"receipt-data":"%s"}' $(cat r.b64) > r.json"#
            #expect(try await Program.shell(mint, in: folder).status == 0)
            let status = try await RunningServer.run(Self.trusting, in: folder) { server in
                let answer = try await Program.shell(
                    "curl -sS --data @r.json \(server.address)/verifyReceipt", in: folder)
                #expect(answer.output.hasSuffix(#""status":0}"#), "\(answer.output)")
                #expect(
                    try await Program.shell("curl -sS \(server.address)/healthz", in: folder).output
                        == #"{"status":"ok"}"#)
            }
            #expect(status == 0)
        }
    }

    @Test("A request in flight at the signal to stop is still answered")
    func answersInFlight() async throws {
        try await Program.inTemporaryFolder { folder in
            let mint = #"assay mint --kind production -o r.b64; printf '{"receipt-data":"%s"}' $(cat r.b64) > r.json"#
            #expect(try await Program.shell(mint, in: folder).status == 0)
            let status = try await RunningServer.run(Self.trusting, in: folder) { server in
                // Slow enough to be in flight when the signal arrives. The server has read the head once it asks for
                // the body.
                let command = """
                    curl -sS -v --limit-rate 1k --expect100-timeout 600 -H 'Expect: 100-continue' --data @r.json \
                        -o answer \(server.address)/verifyReceipt 2> said &
                    until grep -qs '^< HTTP/1.1 100' said; do sleep 0.02; done
                    grep -c '^< HTTP/1.1 200' said; kill -TERM \(server.processIdentifier); wait; cat answer
                    """
                let answer = try await Program.shell(command, in: folder).output
                #expect(answer.hasPrefix("0\n"), "the answer was there before the signal")
                #expect(answer.hasSuffix(#""status":0}"#), "\(answer)")
                let after = try await Program.shell("curl -sS \(server.address)/healthz", in: folder)
                #expect(after.status != 0, "it still takes requests")
            }
            #expect(status == 0)
        }
    }

    @Test("Without an option, settings are read from the environment, including the shared secret")
    func settings() async throws {
        try await Program.inTemporaryFolder { folder in
            let mint =
                #"assay mint --kind production -o r.b64; printf '{"receipt-data":"%s","password":"x"}' $(cat r.b64) > r.json"#
            #expect(try await Program.shell(mint, in: folder).status == 0)
            let environment = ["ASSAY_TRUST": "assay-authority/root.der", "ASSAY_SHARED_SECRET": "y"]
            try await RunningServer.run("assay serve --port 0", in: folder, environment: environment) { server in
                let answer = try await Program.shell(
                    "curl -sS --data @r.json \(server.address)/verifyReceipt", in: folder)
                #expect(answer.output == #"{"status":21004}"#)
            }
            try "x\n".write(to: folder.appending(path: "secret"), atomically: true, encoding: .utf8)
            try await RunningServer.run(
                "assay serve --port 0 --shared-secret-file secret", in: folder, environment: environment
            ) { server in
                let answer = try await Program.shell(
                    "curl -sS --data @r.json \(server.address)/verifyReceipt", in: folder)
                #expect(answer.output.hasSuffix(#""status":0}"#))
            }
        }
    }

    @Test("A variable that looks like a setting and is none is one warning, with the one that may be meant")
    func unknownVariable() async throws {
        try await Program.inTemporaryFolder { folder in
            let environment = ["ASSAY_PROT": "1"]
            try await RunningServer.run("assay serve --port 0 2>log", in: folder, environment: environment) { _ in }
            let log = try String(contentsOf: folder.appending(path: "log"), encoding: .utf8)
            let words = "ASSAY_PROT is not a setting. Did you mean ASSAY_PORT?"
            #expect(log.components(separatedBy: words).count == 2, "\(log)")
            for (command, status) in [("serve --port x", 2), ("keys create --app game --scope client", 0)] {
                let other = try await Program.shell("assay \(command)", in: folder, environment: environment)
                #expect(other.status == status, "\(other.output)")
                #expect(other.output.components(separatedBy: words).count == 2, "\(other.output)")
            }
        }
    }

    @Test("The help lists each setting that has an option, with its default and its other places")
    func help() async throws {
        try await Program.inTemporaryFolder { folder in
            let output = try await Program.shell("assay serve --help", in: folder).output
            let words = output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            for setting in ServerSetting.all {
                guard let option = setting.option else { continue }
                #expect(words.contains("\(option) <"), "\(option)")
                #expect(words.contains(setting.help), "\(setting.help)")
            }
        }
    }

    @Test("A port in use is an error message, with exit status 2")
    func portTaken() async throws {
        try await Program.inTemporaryFolder { folder in
            try await RunningServer.run("assay serve --port 0", in: folder) { server in
                let port = server.address.components(separatedBy: ":").last ?? ""
                let second = try await Program.shell("assay serve --port \(port)", in: folder)
                #expect(second.status == 2)
                let words = "assay: port \(port) is in use; choose another with --port, or a free one with --port 0"
                #expect(second.output.contains(words), "\(second.output)")
            }
        }
    }

    @Test("13 A start names the trusted certificates in one short line")
    func trusted() async throws {
        try await Program.inTemporaryFolder { folder in
            _ = try await Program.shell("assay mint -o r.b64", in: folder)
            try await RunningServer.run("\(Self.trusting) 2>log", in: folder) { _ in }
            let log = try String(contentsOf: folder.appending(path: "log"), encoding: .utf8)
            let lines = log.split(separator: "\n").filter { $0.contains("trust_anchors=") }
            let line = try #require(lines.first, "\(log)")
            #expect(lines.count == 1 && line.count < 200, "\(line)")
            #expect(line.contains("Apple Root CA - G3") && line.contains("Assay Simulator Root CA"), "\(line)")
        }
    }

    @Test(
        "13 With log_format: json an error that ends a start is a line of JSON, wherever the format is named",
        arguments: [
            ("server: { log_format: json, database: \"sqlite:none/a.sqlite\" }", "assay serve --port 0", "none"),
            ("server:\n  log_format: json\n  prot: 1\n", "assay serve", "prot"),
            ("server:\n  log_format: json\n\t- [\n", "assay serve", "assay.yaml"),
            ("", "ASSAY_LOG_FORMAT=json assay serve --port x", "'x'"),
            ("", "assay serve --log-format json --config none.yaml", "none.yaml"),
        ])
    func endedStart(settings: String, command: String, word: String) async throws {
        try await Program.inTemporaryFolder { folder in
            try settings.write(to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
            let result = try await Program.shell(command, in: folder)
            #expect(result.status == 2)
            let lines = result.output.split(separator: "\n")
            for line in lines {
                let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                #expect(object?["message"] is String, "\(line)")
            }
            #expect(lines.contains { $0.contains(#""level":"error""#) && $0.contains(word) }, "\(result.output)")
        }
    }

    @Test("13 docs/README.md names every command of the program")
    func documentedCommands() async throws {
        let page = try String(contentsOf: Corpus.projectFolder.appending(path: "docs/README.md"), encoding: .utf8)
        try await Program.inTemporaryFolder { folder in
            let help = try await Program.shell("assay --help", in: folder).output
            let groups = help.components(separatedBy: "SUBCOMMANDS:").dropFirst()
            let commands = groups.flatMap { $0.matches(of: /(?m)^  ([a-z-]+)/) }
            #expect(groups.count == 5 && (16...18).contains(commands.count))
            for command in commands { #expect(page.contains("`\(command.1)`"), "\(command.1)") }
        }
    }

    @Test(
        "With --log-format json each line on standard error is an object; the first names settings, database and apps")
    func jsonLog() async throws {
        try await Program.inTemporaryFolder { folder in
            try "apps:\n  game: { bundle_ids: com.example.app }\n".write(
                to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
            let command = "assay serve --port 0 --log-format json 2>log"
            try await RunningServer.run(command, in: folder) { server in
                _ = try await Program.shell("curl -sS \(server.address)/v1/orders", in: folder)
                let second = try await Program.shell(
                    "assay serve --port \(server.address.components(separatedBy: ":").last ?? "") --log-format json",
                    in: folder)
                let last = second.output.split(separator: "\n").last.map(String.init) ?? ""
                #expect(second.status == 2 && last.contains(#""level":"error""#), "\(second.output)")
            }
            let log = try String(contentsOf: folder.appending(path: "log"), encoding: .utf8)
            var lines: [[String: Any]] = []
            for line in log.split(separator: "\n") {
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                lines.append(try #require(object, "\(line)"))
            }
            #expect(lines.allSatisfy { $0["time"] is String && $0["level"] is String && $0["message"] is String })
            let start = try #require(lines.first { $0["message"] as? String == "assay serve starts" }, "\(log)")
            #expect((start["settings"] as? String)?.hasSuffix("/assay.yaml") == true)
            #expect((start["database"] as? String)?.hasSuffix("/assay.sqlite") == true)
            #expect(start["apps"] as? [String] == ["game"] && start["schema"] is Int)
            let trusted = try #require(lines.first { $0["trust_anchors"] != nil }, "\(log)")
            #expect((trusted["trust_anchors"] as? [String])?.contains("Apple Root CA - G3") == true, "\(trusted)")
            let request = try #require(lines.first { $0["message"] as? String == "request" }, "\(log)")
            #expect(request["status"] as? Int == 401 && request["code"] as? String == "key_missing")
            #expect(request["id"] is String && request["duration_ms"] is Double)
        }
    }
}
