import Foundation
import PurchaseServer
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
                // Slow enough to be on its way when the signal comes.
                let command = """
                    curl -sS -v --limit-rate 1k --data @r.json -o answer \(server.address)/verifyReceipt 2> said &
                    until grep -qs '^> POST' said; do sleep 0.02; done
                    grep -c '^< HTTP' said; kill -TERM \(server.processIdentifier); wait; cat answer
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

    @Test("Settings come from the environment if there is no option, also the shared secret")
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
                let words = "assay: port \(port) is in use; choose another with --port"
                #expect(second.output.contains(words), "\(second.output)")
            }
        }
    }
}
