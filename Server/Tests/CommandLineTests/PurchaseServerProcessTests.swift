import Foundation
import Testing

/// The purchase server as a process, with curl as its client.
@Suite("assay serve, with a database")
struct PurchaseServerProcessTests {
    private static let settings = """
        apps:
          game:
            bundle_ids: com.example.app
            products:
              com.example.app.coins: { kind: consumable }
              coins: { kind: consumable }
        """

    private static func serve(_ arguments: String = "", trust: String = "root.pem") -> String {
        "assay serve --port 0 --trust assay-authority/\(trust) \(arguments)"
    }

    /// Settings, an authority, a key in `key`, and a receipt of many purchases with a request for each in `claims`.
    private func prepare(_ folder: URL, claims: Int, database: String = "") async throws {
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
        let result = try await Program.shell(commands, in: folder)
        try #require(result.status == 0, "\(result.output)")
    }

    private static let post =
        #"curl -sS -o answers/$n.json -w "%{http_code}\n" -H "Authorization: Bearer $(cat key)""#
        + #" -H "Content-Type: application/json" --data @claims/$n.json"#

    @Test("Stopped amid 200 purchases: each accepted one is there after the restart, and all are granted once")
    func restart() async throws {
        try await Program.inTemporaryFolder { folder in
            try await prepare(folder, claims: 200)
            let status = try await RunningServer.run(Self.serve(), in: folder) { server in
                let command = """
                    mkdir -p answers; for n in $(seq 0 199); do [ $n != 20 ] || kill -TERM \(server.processIdentifier);
                    \(Self.post) \(server.address)/v1/purchases 2>/dev/null; done
                    """
                let codes = try await Program.shell(command, in: folder).output.split(separator: "\n")
                let accepted = codes.count { $0 == "200" }
                // A request that arrived is answered; for a later one, the connection is refused.
                #expect(codes.allSatisfy { $0 == "200" || $0 == "000" || $0.hasPrefix("curl") }, "\(Set(codes))")
                #expect((20..<200).contains(accepted))
                print("SIGTERM: \(accepted) of 200 accepted before the stop")
            }
            #expect(status == 0)
            let answered = try await Program.shell(
                #"grep -l '"verdict":"accepted"' answers/*.json | wc -l"#, in: folder
            )
            .output
            try await RunningServer.run(Self.serve(), in: folder) { server in
                let before = try await Program.shell(
                    #"curl -sS -H "Authorization: Bearer $(cat key)" \#(server.address)/v1/customers/alice/entitlements"#,
                    in: folder
                ).output
                let count = answered.trimmingCharacters(in: .whitespacesAndNewlines)
                #expect(before.contains("\"balance\":\(count),"), "\(before), \(count) accepted")
                let command = "for n in $(seq 0 199); do \(Self.post) \(server.address)/v1/purchases; done"
                let codes = Set(try await Program.shell(command, in: folder).output.split(separator: "\n"))
                #expect(codes == ["200"])
                let after = try await Program.shell(
                    #"curl -sS -H "Authorization: Bearer $(cat key)" \#(server.address)/v1/customers/alice/entitlements"#,
                    in: folder
                ).output
                #expect(after.contains("\"balance\":200,"), "\(after)")
            }
            let audit = try await Program.shell("assay audit verify --trust assay-authority/root.pem", in: folder)
            #expect(audit.status == 0 && audit.output.contains("the tables agree"), "\(audit.output)")
        }
    }

    @Test(
        "Killed amid 100 purchases: each accepted one is there after the restart, and the tables equal a rebuild"
    )
    func killed() async throws {
        try await Program.inTemporaryFolder { folder in
            try await prepare(folder, claims: 100)
            try await RunningServer.run(Self.serve(), in: folder) { server in
                let command = """
                    mkdir -p answers; for n in $(seq 0 99); do [ $n != 30 ] || (sleep 0.1; kill -KILL \(server.processIdentifier)) &
                    \(Self.post) \(server.address)/v1/purchases 2>/dev/null; done; wait
                    """
                let codes = try await Program.shell(command, in: folder).output.split(separator: "\n")
                #expect(codes.contains("200"))
            }
            let accepted = try await Program.shell(
                #"grep -l '"verdict":"accepted"' answers/*.json | wc -l"#, in: folder
            ).output.trimmingCharacters(in: .whitespacesAndNewlines)
            let audited = try await Program.shell(
                "assay audit verify --evidence --trust assay-authority/root.pem", in: folder)
            #expect(audited.status == 0, "\(audited.output)")
            let shown = try await Program.shell("assay show --app game alice --json 2>/dev/null", in: folder)
            let json = try #require(try JSONSerialization.jsonObject(with: Data(shown.output.utf8)) as? [String: Any])
            let balance = (json["entitlements"] as? [[String: Any]])?.first?["balance"] as? Int ?? 0
            // One more may be recorded, whose answer was lost by the kill.
            let count = try #require(Int(accepted))
            #expect((count...count + 1).contains(balance), "\(accepted), \(balance)")
            print("SIGKILL: \(accepted) of 100 accepted before it, \(balance) in the ledger")
        }
    }

    @Test("With two servers on one database, each of 60 claims that are sent to both is granted once")
    func twoServers() async throws {
        try await Program.inTemporaryFolder { folder in
            try await prepare(folder, claims: 60)
            try await RunningServer.run(Self.serve(), in: folder) { first in
                try await RunningServer.run(Self.serve(), in: folder) { second in
                    let command = """
                        mkdir -p a b; for n in $(seq 0 59); do
                        for s in a=\(first.address) b=\(second.address); do
                        curl -sS -o ${s%%=*}/$n.json -H "Authorization: Bearer $(cat key)" --data @claims/$n.json \
                        ${s#*=}/v1/purchases & done; wait; done
                        assay customers grant --app game bob coins --reason 'beside two servers' || exit 1
                        cat a/*.json b/*.json | grep -o '"replayed":false' | wc -l
                        cat a/*.json b/*.json | grep -o '"code":"accepted"' | wc -l
                        """
                    let result = try await Program.shell(command, in: folder)
                    let counts = result.output.split(separator: "\n").suffix(2).map {
                        $0.trimmingCharacters(in: .whitespaces)
                    }
                    #expect(counts == ["60", "120"], "\(result.output)")
                }
            }
            let audited = try await Program.shell(
                "assay audit verify --evidence --trust assay-authority/root.pem", in: folder)
            #expect(audited.status == 0, "\(audited.output)")
        }
    }

    @Test("8 purchases in flight at the signal to stop are all answered, and are there after the restart")
    func purchasesInFlight() async throws {
        try await Program.inTemporaryFolder { folder in
            try await prepare(folder, claims: 8)
            let status = try await RunningServer.run(Self.serve(), in: folder) { server in
                // The bodies are sent slowly enough to be in flight when the signal arrives. The interim answer shows
                // that the server has read the head: a connection that it has not read from is closed, and its client
                // asks again.
                let command = """
                    mkdir -p answers; for n in $(seq 0 7); do
                    (\(Self.post) -v -H 'Expect: 100-continue' --expect100-timeout 60 --limit-rate 1000 \(server.address)/v1/purchases >codes.$n 2>said.$n) & done
                    for n in $(seq 0 7); do until grep -qs '^< HTTP/1.1 100' said.$n; do sleep 0.02; done; done
                    cat said.* | grep -c '^< HTTP/1.1 [2-5]'; kill -TERM \(server.processIdentifier); wait; cat codes.*
                    """
                let lines = try await Program.shell(command, in: folder).output.split(separator: "\n")
                #expect(lines.first == "0", "an answer was there before the signal")
                #expect(lines.dropFirst() == Array(repeating: "200", count: 8)[...], "\(lines)")
            }
            #expect(status == 0)
            try await RunningServer.run(Self.serve(), in: folder) { server in
                let shown = try await Program.shell(
                    #"curl -sS -H "Authorization: Bearer $(cat key)" \#(server.address)/v1/customers/alice/entitlements"#,
                    in: folder
                ).output
                #expect(shown.contains("\"balance\":8,"), "\(shown)")
            }
        }
    }

    @Test("The simulator's attack table finds no mistake, and every attack on purchases is recorded")
    func attacks() async throws {
        try await Program.inTemporaryFolder { folder in
            try await prepare(folder, claims: 1)
            try await RunningServer.run(Self.serve(trust: "trust.pem"), in: folder) { server in
                let result = try await Program.shell(
                    "assay simulate attacks --api-key-file key --against \(server.address)", in: folder)
                #expect(result.status == 0, "\(result.output.suffix(2000))")
                let lines = result.output.components(separatedBy: "\n")
                let purchases = lines.drop { $0 != "/v1/purchases" }.dropFirst().prefix { !$0.hasPrefix("/") }
                    .count { $0.hasPrefix("  right") }
                #expect(purchases > 100)
                let export = try await Program.shell("assay audit export 2>/dev/null", in: folder).output.components(
                    separatedBy: "\n")
                // One attack is not a complete request, and has no submission.
                let recorded = export.count { $0.contains(#""kind":"claim""#) }
                #expect(recorded == purchases, "\(recorded) of \(purchases)")
                print("attacks on /v1/purchases: \(purchases), all answered rightly, \(recorded) in the record")
            }
            let audit = try await Program.shell("assay audit verify --trust assay-authority/trust.pem", in: folder)
            #expect(audit.status == 0, "\(audit.output)")
        }
    }

    @Test("Keys are created, listed without their secret, and revoked; the audit and the export succeed")
    func commands() async throws {
        try await Program.inTemporaryFolder { folder in
            try await prepare(folder, claims: 2)
            let key = try await Program.shell("cat key", in: folder).output.trimmingCharacters(
                in: .whitespacesAndNewlines)
            let list = try await Program.shell("assay list keys 2>/dev/null", in: folder).output
            let id = String(try #require(list.split(separator: "\n").last?.split(separator: " ").first))
            #expect(list.hasPrefix("KEY ") && list.contains("game  admin") && !list.contains(key))
            let twoLines = try await Program.shell(
                "assay keys create --app game --scope client --name \"$(printf 'a\\nb')\"", in: folder)
            #expect(
                twoLines.status == 2 && twoLines.output.contains("without control characters"), "\(twoLines.output)")
            let unknown = try await Program.shell("assay keys create --app nothing --scope client", in: folder)
            #expect(unknown.status == 2 && unknown.output.contains("There is no app 'nothing'"), "\(unknown.output)")
            try await RunningServer.run(Self.serve(), in: folder) { server async throws in
                for (n, expected) in [(0, "200"), (1, "401")] {
                    let command = "mkdir -p answers; n=\(n); \(Self.post) \(server.address)/v1/purchases"
                    #expect(try await Program.shell(command, in: folder).output == expected + "\n")
                    // The server keeps a key in memory for half a second.
                    #expect(try await Program.shell("assay keys revoke \(id) && sleep 1", in: folder).status == 0)
                }
            }
            let export = try await Program.shell("assay audit export 2>/dev/null", in: folder).output.split(
                separator: "\n")
            let kinds = export.map { $0.components(separatedBy: #""kind":""#).last?.prefix { $0 != "\"" } ?? "" }
            #expect(
                kinds == ["key_created", "rules", "settings", "bundle_bound", "claim", "key_revoked"], "\(kinds)")
            #expect(export.allSatisfy { !$0.contains(key) })
            let claim = try #require(export.first { $0.contains(#""kind":"claim""#) })
            let evidence = try #require(claim.components(separatedBy: #""evidence_sha256":""#).last?.prefix(64))
            let same = """
                printf %s "$(cat r.b64)" > sent; assay audit evidence \(evidence) 2>/dev/null | cmp - sent &&
                assay audit evidence \(evidence) -o kept && cmp kept sent
                """
            let compared = try await Program.shell(same, in: folder)
            #expect(compared.status == 0, "\(compared.output)")
            for wrong in ["00", String(repeating: "0", count: 64), String(repeating: "g", count: 64)] {
                #expect(try await Program.shell("assay audit evidence \(wrong)", in: folder).status == 2)
            }
            // Without the certificate, the evidence that was accepted is refused now.
            let untrusted = try await Program.shell("assay audit verify --evidence 2>/dev/null", in: folder)
            #expect(untrusted.status == 1 && untrusted.output.contains("evidence_refused  "), "\(untrusted.output)")
            let trusted = "assay audit verify --evidence --trust assay-authority/root.pem"
            #expect(try await Program.shell(trusted, in: folder).status == 0)
            #expect(
                try await Program.shell("assay database migrate 2>/dev/null", in: folder).output
                    == "assay: the database is up to date\n")
        }
    }

    @Test("All wrong settings are reported at once, with exit status 2; so is a database that cannot be opened")
    func refusals() async throws {
        try await Program.inTemporaryFolder { folder in
            try "apps:\n  game: {}\nserver:\n  port: x\n".write(
                to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
            let settings = try await Program.shell("assay serve --port 0", in: folder)
            #expect(settings.status == 2)
            #expect(settings.output.contains("assay.yaml: line 2:") && settings.output.contains("assay.yaml: line 4:"))
            let missing = try await Program.shell(
                "rm assay.yaml; assay serve --port 0 --database sqlite:/no/where", in: folder)
            #expect(missing.status == 2 && missing.output.contains("does not exist; create it"), "\(missing.output)")
            let other = try await Program.shell("assay database migrate --database mysql://localhost/assay", in: folder)
            #expect(other.status == 2 && other.output.contains("Write sqlite:PATH"), "\(other.output)")
        }
    }

    /// Whether a file system can be mounted in a private namespace.
    private static func canMount() async throws -> Bool {
        try await Program.inTemporaryFolder { folder in
            try await Program.shell("mkdir m && unshare -m sh -c 'mount -t tmpfs -o size=1m tmpfs m'", in: folder)
                .status == 0
        }
    }

    @Test(
        "A full disk gives 503 database_full and not ready; accepted purchases stay; it recovers when there is space",
        .enabled("mounting a file system of its own needs rights that this run does not have", canMount))
    func fullDisk() async throws {
        try await Program.inTemporaryFolder { folder in
            try await prepare(folder, claims: 200, database: "--database sqlite:keys.sqlite")
            let mount = "mkdir -p disk && mount -t tmpfs -o size=6m tmpfs disk && cp keys.sqlite disk/assay.sqlite"
            let serve = Self.serve("--database sqlite:disk/assay.sqlite")
            try await RunningServer.run("unshare -m sh -c '\(mount) && exec \(serve)'", in: folder) { server in
                func submit(_ range: String) async throws -> [Substring] {
                    let command =
                        "mkdir -p answers; for n in $(seq \(range)); do \(Self.post) \(server.address)/v1/purchases; done"
                    return try await Program.shell(command, in: folder).output.split(separator: "\n")
                }
                // Different evidence each time, so that the disk fills.
                let fill = """
                    for n in $(seq 1 400); do head -c 30000 /dev/urandom | base64 -w0 > noise;
                    printf '{"receipt_data":"%s"}' "$(cat noise)" > body;
                    curl -sS -o last -w "%{http_code}\\n" -H "Authorization: Bearer $(cat key)" --data @body \
                    \(server.address)/v1/purchases | tee -a codes; grep -q 503 codes && break; done; cat last
                    """
                #expect(try await submit("0 4") == Array(repeating: "200", count: 5))
                let filled = try await Program.shell(fill, in: folder).output
                #expect(filled.contains("\"code\":\"database_full\""), "\(filled.suffix(300))")
                // The answer is that of a check each second.
                func ready(_ status: String) -> String {
                    """
                    for n in $(seq 1 200); do
                    code=$(curl -sS -o /dev/null -w "%{http_code}" \(server.address)/readyz); [ $code = \(status) ] && break
                    sleep 0.05; done; printf %s $code
                    """
                }
                #expect(try await Program.shell(ready("503"), in: folder).output == "503")
                #expect(
                    try await Program.shell("curl -sS \(server.address)/healthz", in: folder).output
                        == #"{"status":"ok"}"#)
                let grow = "nsenter -t \(server.processIdentifier) -m mount -o remount,size=64m \(folder.path)/disk"
                #expect(try await Program.shell(grow, in: folder).status == 0)
                #expect(try await Program.shell(ready("200"), in: folder).output == "200")
                #expect(try await submit("0 9") == Array(repeating: "200", count: 10))
                let shown = try await Program.shell(
                    #"curl -sS -H "Authorization: Bearer $(cat key)" \#(server.address)/v1/customers/alice/entitlements"#,
                    in: folder
                ).output
                #expect(shown.contains("\"balance\":10,"), "\(shown)")
                print(
                    "full disk: \(filled.split(separator: "\n").count { $0 == "400" }) kept before it was full; healed")
            }
        }
    }
}
