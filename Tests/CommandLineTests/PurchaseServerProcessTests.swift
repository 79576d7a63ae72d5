import Foundation
import TestSupport
import Testing

/// The purchase server as a process, with curl as its client.
@Suite("assay serve, with a database")
struct PurchaseServerProcessTests {
    private static let settings = """
        apps:
          game:
            bundle_ids: com.example.app
            products:
              com.example.app.coins: { type: consumable }
              coins: { type: consumable }
        """

    /// A server that runs, and what it needs: settings, an authority and a key.
    private func withServer(
        in folder: URL, _ arguments: [String] = [], trust: String = "root.pem", namespaced: String? = nil,
        _ body: (_ address: String, _ process: ChildProcess) throws -> Void
    ) throws -> Int32 {
        let process = ChildProcess()
        let serve = "assay serve --port 0 --trust assay-authority/\(trust) \(arguments.joined(separator: " "))"
        process.arguments = [
            "-c", namespaced.map { "exec unshare -m sh -c '\($0) && exec \(serve)'" } ?? "exec \(serve)",
        ]
        process.folder = folder
        process.environment = ["PATH": Program.url.deletingLastPathComponent().path + ":/usr/bin:/bin"]
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
        let address = line.trimmingCharacters(in: .whitespacesAndNewlines).components(separatedBy: " ").last ?? ""
        try #require(address.hasPrefix("http://127.0.0.1:"), "\(line)")
        try body(address, process)
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Settings, an authority, a key in `key`, and a receipt of many purchases with a request for each in `claims`.
    private func prepare(_ folder: URL, claims: Int, database: String = "") throws {
        try Self.settings.write(to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
        let purchases = (0..<claims).map {
            "--purchase product=com.example.app.coins,kind=consumable,transaction=p\($0)"
        }
        let commands = """
            assay mint --kind production --bundle-id com.example.app \(purchases.joined(separator: " ")) -o r.b64 &&
            assay keys create \(database) --app game --scope admin 2>/dev/null > key &&
            mkdir -p claims && for n in $(seq 0 \(claims - 1)); do
            printf '{"receipt_data":"%s","product_id":"com.example.app.coins","transaction_id":"p%s","customer_id":"alice"}' \
            "$(cat r.b64)" "$n" > claims/$n.json; done
            """
        let result = try Program.shell(commands, in: folder)
        try #require(result.status == 0, "\(result.output)")
    }

    private static let post =
        #"curl -sS -o answers/$n.json -w "%{http_code}\n" -H "Authorization: Bearer $(cat key)""#
        + #" -H "Content-Type: application/json" --data @claims/$n.json"#

    @Test("Stopped amid 200 purchases: each that was accepted is there after the restart, and all are granted once")
    func restart() throws {
        try Program.inTemporaryFolder { folder in
            try prepare(folder, claims: 200)
            let status = try withServer(in: folder) { address, process in
                let command = """
                    mkdir -p answers; (sleep 0.3; kill -TERM \(process.processIdentifier)) &
                    for n in $(seq 0 199); do \(Self.post) \(address)/v1/purchases 2>/dev/null; done; wait
                    """
                let codes = try Program.shell(command, in: folder).output.split(separator: "\n")
                let accepted = codes.count { $0 == "200" }
                // A request that came is answered; one that came too late finds nobody.
                #expect(codes.allSatisfy { $0 == "200" || $0 == "000" || $0.hasPrefix("curl") }, "\(Set(codes))")
                #expect(accepted > 0)
                print("SIGTERM: \(accepted) of 200 accepted before the stop")
            }
            #expect(status == 0)
            let answered = try Program.shell(#"grep -l '"verdict":"accepted"' answers/*.json | wc -l"#, in: folder)
                .output
            _ = try withServer(in: folder) { address, _ in
                let before = try Program.shell(
                    #"curl -sS -H "Authorization: Bearer $(cat key)" \#(address)/v1/customers/alice/entitlements"#,
                    in: folder
                ).output
                let count = answered.trimmingCharacters(in: .whitespacesAndNewlines)
                #expect(before.contains("\"balance\":\(count),"), "\(before), \(count) accepted")
                let command = "for n in $(seq 0 199); do \(Self.post) \(address)/v1/purchases; done"
                let codes = Set(try Program.shell(command, in: folder).output.split(separator: "\n"))
                #expect(codes == ["200"])
                let after = try Program.shell(
                    #"curl -sS -H "Authorization: Bearer $(cat key)" \#(address)/v1/customers/alice/entitlements"#,
                    in: folder
                ).output
                #expect(after.contains("\"balance\":200,"), "\(after)")
            }
            let audit = try Program.shell("assay audit verify", in: folder)
            #expect(audit.status == 0 && audit.output.contains("the record is as it was written"), "\(audit.output)")
        }
    }

    @Test("The simulator's whole attack table finds nothing, and all of it is in the record")
    func attacks() throws {
        try Program.inTemporaryFolder { folder in
            try prepare(folder, claims: 1)
            _ = try withServer(in: folder, trust: "trust.pem") { address, _ in
                let result = try Program.shell(
                    "assay simulate attacks --api-key-file key --against \(address)", in: folder)
                #expect(result.status == 0, "\(result.output.suffix(2000))")
                let lines = result.output.components(separatedBy: "\n")
                let purchases = lines.drop { $0 != "/v1/purchases" }.count { $0.hasPrefix("  right") }
                #expect(purchases > 100)
                let export = try Program.shell("assay audit export", in: folder).output.components(separatedBy: "\n")
                // One attack is no whole request, and has no submission.
                let recorded = export.count { $0.hasPrefix(#"{"table":"submissions""#) }
                #expect(recorded == purchases, "\(recorded) of \(purchases)")
                print("attacks on /v1/purchases: \(purchases), all answered rightly, \(recorded) in the record")
            }
            let audit = try Program.shell("assay audit verify", in: folder)
            #expect(audit.status == 0, "\(audit.output)")
        }
    }

    @Test("Keys are made, listed without their secret, and revoked; the audit and the export say what is there")
    func commands() throws {
        try Program.inTemporaryFolder { folder in
            try prepare(folder, claims: 2)
            let key = try Program.shell("cat key", in: folder).output.trimmingCharacters(in: .whitespacesAndNewlines)
            let list = try Program.shell("assay keys list", in: folder).output
            let id = String(try #require(list.split(separator: " ").first))
            #expect(list.contains("game  admin") && !list.contains(key))
            let unknown = try Program.shell("assay keys create --app nothing --scope client", in: folder)
            #expect(unknown.status == 2 && unknown.output.contains("There is no app 'nothing'"), "\(unknown.output)")
            _ = try withServer(in: folder) { address, _ throws in
                for (n, expected) in [(0, "200"), (1, "401")] {
                    let command = "mkdir -p answers; n=\(n); \(Self.post) \(address)/v1/purchases"
                    #expect(try Program.shell(command, in: folder).output == expected + "\n")
                    #expect(try Program.shell("assay keys revoke \(id)", in: folder).status == 0)
                }
            }
            let export = try Program.shell("assay audit export", in: folder).output.split(separator: "\n")
            #expect(export.count == 4, "\(export)")
            let verified = try Program.shell("assay audit verify", in: folder).output
            let head = try #require(verified.split(separator: "\n").first { $0.hasPrefix("head submissions:1:") })
            let kept = head.dropFirst("head ".count)
            #expect(try Program.shell("assay audit verify --expect \(kept)", in: folder).status == 0)
            let other = kept.dropLast() + (kept.hasSuffix("0") ? "1" : "0")
            #expect(try Program.shell("assay audit verify --expect \(other)", in: folder).status == 1)
            #expect(
                try Program.shell("assay migrate", in: folder).output == "assay: the database is up to date\n")
        }
    }

    @Test("Wrong settings are all told at once, with exit status 2; so is a database that cannot be opened")
    func refusals() throws {
        try Program.inTemporaryFolder { folder in
            try "apps:\n  game: {}\nserver:\n  port: x\n".write(
                to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
            let settings = try Program.shell("assay serve --port 0", in: folder)
            #expect(settings.status == 2)
            #expect(settings.output.contains("assay.yaml: line 2:") && settings.output.contains("assay.yaml: line 4:"))
            let missing = try Program.shell(
                "rm assay.yaml; assay serve --port 0 --database sqlite:/no/where", in: folder)
            #expect(missing.status == 2 && missing.output.contains("database_unavailable"), "\(missing.output)")
            let other = try Program.shell("assay migrate --database postgres://localhost/assay", in: folder)
            #expect(other.status == 2 && other.output.contains("write sqlite:PATH"), "\(other.output)")
        }
    }

    /// Whether a file system can be mounted where nobody else sees it.
    private static let canMount: Bool = {
        do {
            return try Program.inTemporaryFolder { folder in
                try Program.shell("mkdir m && unshare -m sh -c 'mount -t tmpfs -o size=1m tmpfs m'", in: folder).status
                    == 0
            }
        } catch {
            return false
        }
    }()

    @Test(
        "A full disk: 503 with database_full, not ready, what was accepted stays, and it heals when there is room",
        .enabled(if: canMount, "mounting a file system of its own needs rights that this run does not have"))
    func fullDisk() throws {
        try Program.inTemporaryFolder { folder in
            try prepare(folder, claims: 200, database: "--database sqlite:keys.sqlite")
            let mount = "mkdir -p disk && mount -t tmpfs -o size=1m tmpfs disk && cp keys.sqlite disk/assay.sqlite"
            _ = try withServer(in: folder, ["--database", "sqlite:disk/assay.sqlite"], namespaced: mount) {
                address, process in
                func submit(_ range: String) throws -> [Substring] {
                    let command =
                        "mkdir -p answers; for n in $(seq \(range)); do \(Self.post) \(address)/v1/purchases; done"
                    return try Program.shell(command, in: folder).output.split(separator: "\n")
                }
                // Different evidence each time, so that the disk fills.
                let fill = """
                    for n in $(seq 1 400); do head -c 30000 /dev/urandom | base64 -w0 > noise;
                    printf '{"receipt_data":"%s"}' "$(cat noise)" > body;
                    curl -sS -o last -w "%{http_code}\\n" -H "Authorization: Bearer $(cat key)" --data @body \
                    \(address)/v1/purchases | tee -a codes; grep -q 503 codes && break; done; cat last
                    """
                #expect(try submit("0 4") == Array(repeating: "200", count: 5))
                let filled = try Program.shell(fill, in: folder).output
                #expect(filled.contains("\"code\":\"database_full\""), "\(filled.suffix(300))")
                let ready = "curl -sS -o /dev/null -w %{http_code} \(address)/readyz"
                #expect(try Program.shell(ready, in: folder).output == "503")
                #expect(
                    try Program.shell("curl -sS \(address)/healthz", in: folder).output == #"{"status":"ok"}"#)
                let grow = "nsenter -t \(process.processIdentifier) -m mount -o remount,size=64m \(folder.path)/disk"
                #expect(try Program.shell(grow, in: folder).status == 0)
                #expect(try Program.shell(ready, in: folder).output == "200")
                #expect(try submit("0 9") == Array(repeating: "200", count: 10))
                let shown = try Program.shell(
                    #"curl -sS -H "Authorization: Bearer $(cat key)" \#(address)/v1/customers/alice/entitlements"#,
                    in: folder
                ).output
                #expect(shown.contains("\"balance\":10,"), "\(shown)")
                print(
                    "full disk: \(filled.split(separator: "\n").count { $0 == "400" }) kept before it was full; healed")
            }
        }
    }
}
