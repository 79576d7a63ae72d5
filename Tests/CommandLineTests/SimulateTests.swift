import Foundation
import TestSupport
import Testing

@Suite("assay simulate", .serialized)
struct SimulateTests {
    /// Runs a server as a process until the body is done; the line that it prints when it is ready goes to the body.
    private func running(
        _ arguments: [String], in folder: URL, _ body: (_ line: String, _ address: String) throws -> Void
    ) throws {
        let process = ChildProcess()
        process.executable = Program.url.path
        process.arguments = arguments
        process.folder = folder
        process.environment = [:]
        let output = Pipe()
        process.output = output.fileHandleForWriting
        try process.run()
        try output.fileHandleForWriting.close()
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        var line = ""
        while !line.hasSuffix("\n") {
            let data = output.fileHandleForReading.readData(ofLength: 1)
            guard !data.isEmpty else { break }
            line += String(decoding: data, as: UTF8.self)
        }
        let address = line.split(whereSeparator: { " ;\n".contains($0) }).first { $0.hasPrefix("http://") }
        try body(line, String(try #require(address, "\(line)")))
    }

    private func post(_ path: String, _ body: String, to address: String, in folder: URL) throws -> String {
        try body.write(to: folder.appending(path: "body.json"), atomically: true, encoding: .utf8)
        return try Program.shell(
            "curl -sS -H 'Content-Type: application/json' --data @body.json \(address)\(path)", in: folder
        ).output
    }

    private func text(_ key: String, in json: String) throws -> String {
        let start = try #require(json.range(of: "\"\(key)\":\""), "\(json.prefix(300))")
        return String(json[start.upperBound...].prefix { $0 != "\"" })
    }

    @Test("A store opens, says what to trust, sells what verifies, and keeps it over a restart and a year")
    func store() throws {
        try Program.inTemporaryFolder { folder in
            let arguments = [
                "simulate", "--port", "0", "--clock", "2026-01-31T12:00:00Z", "--environment-names", "apple",
                "--database", "store.db",
            ]
            try running(arguments, in: folder) { line, address in
                #expect(line.hasSuffix("; trust assay-authority/trust.pem\n"))
                _ = try post("/control/apps", #"{"bundle_id":"com.example.app"}"#, to: address, in: folder)
                _ = try post(
                    "/control/products",
                    #"{"bundle_id":"com.example.app","product_id":"gold","kind":"auto-renewable","#
                        + #""subscription":{"group_id":"club","period":"P1M"}}"#, to: address, in: folder)
                _ = try post(
                    "/control/customers", #"{"customer_id":"ada","environment":"production"}"#, to: address, in: folder)
                let bought = try post(
                    "/control/purchases",
                    #"{"bundle_id":"com.example.app","product_id":"gold","customer_id":"ada"}"#, to: address, in: folder
                )
                for name in [
                    "app_receipt", "transaction_receipt", "signed_transaction", "signed_renewal_info",
                    "app_transaction",
                ] {
                    try text(name, in: bought).write(
                        to: folder.appending(path: name), atomically: true, encoding: .utf8)
                }
            }
            let verified = try Program.shell(
                "assay verify --trust assay-authority/trust.pem app_receipt transaction_receipt signed_transaction "
                    + "signed_renewal_info app_transaction", in: folder)
            #expect(verified.status == 0, "\(verified.output)")
            try running(arguments, in: folder) { _, address in
                #expect(
                    try post("/control/clock", #"{"advance":"P1Y"}"#, to: address, in: folder)
                        == #"{"now":"2027-01-31T12:00:00Z","rate":0}"#)
                let receipt = try String(contentsOf: folder.appending(path: "app_receipt"), encoding: .utf8)
                let answer = try post("/verifyReceipt", #"{"receipt-data":"\#(receipt)"}"#, to: address, in: folder)
                #expect(answer.hasPrefix(#"{"environment":"Production","receipt":{"#))
                #expect(
                    answer.contains(
                        #""latest_receipt_info":[{"quantity":"1","product_id":"gold","transaction_id":"500000000000013""#
                    ))
                #expect(answer.hasSuffix(#""status":0}"#))
            }
        }
    }

    @Test("The attacks find nothing at a drop-in that trusts the authority, and end at one that does not")
    func attacks() throws {
        try Program.inTemporaryFolder { folder in
            try running(["serve", "--port", "0"], in: folder) { _, address in
                let result = try Program.shell("assay simulate attacks --against \(address)", in: folder)
                #expect(result.status == 2)
                #expect(result.output.contains("A genuine app receipt is refused"), "\(result.output)")
            }
            try running(["serve", "--port", "0", "--trust", "assay-authority/trust.pem"], in: folder) { _, address in
                // Any folder will do, if it is the same.
                try FileManager.default.moveItem(
                    at: folder.appending(path: "assay-authority"), to: folder.appending(path: "keys"))
                let result = try Program.shell(
                    "assay simulate attacks --authority keys --against \(address)", in: folder)
                #expect(result.status == 0, "\(result.output)")
                #expect(!result.output.contains("WRONG"))
                #expect(result.output.components(separatedBy: "\n").filter { $0.hasPrefix("  right") }.count > 150)
                #expect(result.output.hasSuffix(" attacks, 0 answered wrongly\n"))
            }
        }
    }

    @Test("The attacks see where a server is wrong")
    func wrongServer() throws {
        try Program.inTemporaryFolder { folder in
            // A store that is told to believe everybody.
            try running(["simulate", "--port", "0"], in: folder) { _, address in
                _ = try post(
                    "/control/faults/answers", #"{"kind":"status","status":0,"count":1000}"#, to: address, in: folder)
                let result = try Program.shell("assay simulate attacks --quiet --against \(address)", in: folder)
                #expect(result.status == 1, "\(result.output)")
                #expect(result.output.contains("  WRONG  app-receipt: wrong-root"))
            }
        }
    }
}
