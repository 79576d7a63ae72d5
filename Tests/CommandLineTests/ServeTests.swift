import Foundation
import TestSupport
import Testing

@Suite("assay serve")
struct ServeTests {
    /// Runs the server as a process, and the body with its address; then stops it with SIGTERM.
    private func withServer(
        _ arguments: [String], in folder: URL, environment: [String: String] = [:],
        _ body: (String, ChildProcess) throws -> Void
    ) throws -> Int32 {
        let process = ChildProcess()
        process.executable = Program.url.path
        process.arguments = ["serve", "--port", "0"] + arguments
        process.folder = folder
        process.environment = environment
        let output = Pipe()
        process.output = output.fileHandleForWriting
        try process.run()
        try output.fileHandleForWriting.close()
        defer { if process.isRunning { process.terminate() } }
        var line = ""
        while !line.hasSuffix("\n") {
            let data = output.fileHandleForReading.readData(ofLength: 1)
            guard !data.isEmpty else { break }
            line += String(decoding: data, as: UTF8.self)
        }
        #expect(line.hasPrefix("assay: ready on http://127.0.0.1:"))
        let address = line.trimmingCharacters(in: .whitespacesAndNewlines).components(separatedBy: " ").last ?? ""
        try body(address, process)
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
        return process.terminationStatus
    }

    @Test("It says where it is, answers, and stops cleanly when it is told to")
    func answersAndStops() throws {
        try Program.inTemporaryFolder { folder in
            let mint = #"assay mint --kind production -o r.b64; printf '{"receipt-data":"%s"}' $(cat r.b64) > r.json"#
            #expect(try Program.shell(mint, in: folder).status == 0)
            let status = try withServer(["--trust", "assay-authority/root.pem"], in: folder) { address, _ in
                let answer = try Program.shell("curl -sS --data @r.json \(address)/verifyReceipt", in: folder)
                #expect(answer.output.hasSuffix(#""status":0}"#), "\(answer.output)")
                #expect(try Program.shell("curl -sS \(address)/healthz", in: folder).output == #"{"status":"ok"}"#)
            }
            #expect(status == 0)
        }
    }

    @Test("A request in flight when it is told to stop is still answered")
    func answersInFlight() throws {
        try Program.inTemporaryFolder { folder in
            let mint = #"assay mint --kind production -o r.b64; printf '{"receipt-data":"%s"}' $(cat r.b64) > r.json"#
            #expect(try Program.shell(mint, in: folder).status == 0)
            let status = try withServer(["--trust", "assay-authority/root.pem"], in: folder) { address, process in
                // Slow enough to be on its way when the signal comes.
                let slow = "curl -sS --limit-rate 4k --data @r.json \(address)/verifyReceipt"
                let command = "(sleep 0.4; kill -TERM \(process.processIdentifier)) & \(slow); wait"
                let answer = try Program.shell(command, in: folder)
                #expect(answer.output.hasSuffix(#""status":0}"#), "\(answer.output)")
                let after = try Program.shell("curl -sS \(address)/healthz", in: folder)
                #expect(after.status != 0, "it still takes requests")
            }
            #expect(status == 0)
        }
    }

    @Test("Settings come from the environment where no option says otherwise, and the secret from nowhere else")
    func settings() throws {
        try Program.inTemporaryFolder { folder in
            let mint =
                #"assay mint --kind production -o r.b64; printf '{"receipt-data":"%s","password":"x"}' $(cat r.b64) > r.json"#
            #expect(try Program.shell(mint, in: folder).status == 0)
            let environment = ["ASSAY_TRUST": "assay-authority/root.der", "ASSAY_SHARED_SECRET": "y"]
            _ = try withServer([], in: folder, environment: environment) { address, _ in
                let answer = try Program.shell("curl -sS --data @r.json \(address)/verifyReceipt", in: folder)
                #expect(answer.output == #"{"status":21004}"#)
            }
            try "x\n".write(to: folder.appending(path: "secret"), atomically: true, encoding: .utf8)
            _ = try withServer(["--shared-secret-file", "secret"], in: folder, environment: environment) { address, _ in
                let answer = try Program.shell("curl -sS --data @r.json \(address)/verifyReceipt", in: folder)
                #expect(answer.output.hasSuffix(#""status":0}"#))
            }
        }
    }

    @Test("A port that is taken is an error in words, with exit status 2")
    func portTaken() throws {
        try Program.inTemporaryFolder { folder in
            _ = try withServer([], in: folder) { address, _ in
                let port = address.components(separatedBy: ":").last ?? ""
                let second = try Program.shell("assay serve --port \(port)", in: folder)
                #expect(second.status == 2)
                #expect(second.output.contains("assay: the server stopped:"), "\(second.output)")
            }
        }
    }
}
