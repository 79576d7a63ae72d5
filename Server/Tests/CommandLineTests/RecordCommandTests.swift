import Foundation
import TestSupport
import Testing

/// The keys of the record, its checkpoints, audits and proofs, with a server as a process.
@Suite("The record of a server")
struct RecordCommandTests {
    private static let settings = """
        server:
          trust: [assay-authority/trust.pem]
        record:
          origin: example.com/assay
          checkpoints: checkpoint
        apps:
          game:
            bundle_ids: com.example.app
            products:
              coins: { kind: consumable }
        """
    static let serve = "assay serve --port 0"

    /// A folder with settings, a key in `key` and receipts of one purchase each, `r0.b64` and so on.
    static func inFolder(_ body: (URL) async throws -> Void) async throws {
        try await Program.inTemporaryFolder { folder in
            try settings.write(to: folder.appending(path: "assay.yaml"), atomically: true, encoding: .utf8)
            let prepare = """
                for n in 0 1 2 3; do assay mint --kind production --bundle-id com.example.app \
                --purchase product=coins,kind=consumable,transaction=p$n -o r$n.b64 || exit 1; done
                assay keys create --app game --scope admin 2>/dev/null > key
                """
            let prepared = try await Program.shell(prepare, in: folder)
            try #require(prepared.status == 0, "\(prepared.output)")
            try await body(folder)
        }
    }

    /// Claims a purchase, and returns the id of the submission.
    @discardableResult
    static func claim(_ number: Int, _ server: RunningServer, _ folder: URL) async throws -> String {
        let claim = """
            printf '{"receipt_data":"%s","product_id":"coins","transaction_id":"p\(number)","customer_id":"alice"}' \
            "$(cat r\(number).b64)" > claim.json
            curl -sS -H "Authorization: Bearer $(cat key)" --data @claim.json \(server.address)/v1/purchases
            """
        let answer = try await Program.shell(claim, in: folder).output
        let message = try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any]
        #expect(message?["code"] as? String == "accepted", "\(answer)")
        return try #require(message?["submission_id"] as? String)
    }

    /// Repeats a question until it is answered as expected. Sealing takes a second; the limit is for busy machines.
    static func wait(_ question: () async throws -> Bool) async throws {
        for _ in 0..<3000 {
            if try await question() { return }
            try await Task.sleep(for: .milliseconds(200))
        }
        Issue.record("what was waited for did not happen within ten minutes")
    }

    static func output(_ command: String, _ folder: URL) async throws -> Program.Result {
        try await Program.shell("assay \(command)", in: folder)
    }

    /// The number of leaves of the published checkpoint.
    static func published(_ folder: URL) -> Int {
        // Before the first one there is no file.
        let note = (try? String(contentsOf: folder.appending(path: "checkpoint"), encoding: .utf8)) ?? ""
        return note.split(separator: "\n").dropFirst().first.flatMap { Int($0) } ?? 0
    }

    static func leaves(_ folder: URL) async throws -> Int {
        let count =
            "python3 -c 'import sqlite3; print(sqlite3.connect(\"assay.sqlite\").execute("
            + "\"SELECT count(*) FROM journal\").fetchone()[0])'"
        return Int(try await Program.shell(count, in: folder).output.split(separator: "\n").last ?? "") ?? -1
    }

    @Test("A checkpoint covers a purchase soon, and a proof of it holds in an empty folder under the public key")
    func proof() async throws {
        try await Self.inFolder { folder in
            var submission = ""
            let status = try await RunningServer.run(Self.serve, in: folder) { server in
                submission = try await Self.claim(0, server, folder)
                let entries = try await Self.leaves(folder)
                try await Self.wait { Self.published(folder) == entries }
                let live = try await Self.output("audit prove \(submission) -o live.json", folder)
                #expect(live.status == 0, "\(live.output)")
                let shown = try await Program.shell(
                    "curl -sS -H \"Authorization: Bearer $(cat key)\" \(server.address)/v1/submissions/\(submission)",
                    in: folder
                ).output
                #expect(shown.contains(#""leaf_hash":""#) && shown.contains(#""leaf_number":"#), "\(shown)")
            }
            #expect(status == 0)
            let audit = try await Self.output("audit verify --evidence --checkpoint checkpoint", folder)
            #expect(audit.status == 0 && audit.output.contains(" 2 checkpoints, 0 findings"), "\(audit.output)")
            let key = try await Program.shell("assay keys signing --for log", in: folder).output
                .trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(key.hasPrefix("example.com/assay+"))
            for proof in [
                "audit prove \(submission) -o p.json", "audit prove \(submission) --checkpoint checkpoint -o p.json",
            ] {
                let proven = try await Self.output(proof, folder)
                #expect(proven.status == 0, "\(proven.output)")
            }
            try await Program.inTemporaryFolder { empty in
                for name in ["p.json", "live.json"] {
                    try FileManager.default.copyItem(
                        at: folder.appending(path: name), to: empty.appending(path: name))
                    let checked = try await Self.output("audit check \(name) --key '\(key)' --evidence e", empty)
                    #expect(checked.status == 0 && checked.output.contains("the proof holds"), "\(checked.output)")
                    #expect(checked.output.contains(submission) && checked.output.contains("claim, accepted"))
                }
                let same = try await Program.shell("printf '%s' \"$(cat \(folder.path)/r0.b64)\" | cmp e -", in: empty)
                #expect(same.status == 0, "\(same.output)")
                _ = try await Program.shell(
                    "sed 's/\"leaf_number\" : [0-9]*/\"leaf_number\" : 0/' p.json > wrong.json", in: empty)
                let wrong = try await Self.output("audit check wrong.json --key '\(key)'", empty)
                #expect(wrong.status == 1 && wrong.output.contains("log_proof_invalid"), "\(wrong.output)")
                #expect(try await Self.output("audit check p.json", empty).status == 2)
                #expect(try await Self.output("audit check p.json --key nonsense", empty).status == 2)
                let other = try await Program.shell("assay keys signing --for log 2>/dev/null", in: empty).output
                    .trimmingCharacters(in: .whitespacesAndNewlines)
                #expect(try await Self.output("audit check p.json --key '\(other)'", empty).status == 1)
            }
        }
    }

    @Test("A.7 Growth between two checkpoints is proven to somebody who has only them, the proof and the public key")
    func growth() async throws {
        try await Self.inFolder { folder in
            try await RunningServer.run(Self.serve, in: folder) { try await Self.claim(0, $0, folder) }
            _ = try await Program.shell("cp checkpoint early", in: folder)
            try await RunningServer.run(Self.serve, in: folder) { server in
                for number in 1..<4 { try await Self.claim(number, server, folder) }
            }
            let proven = try await Self.output("audit prove-growth --from early --to checkpoint -o growth.json", folder)
            #expect(proven.status == 0, "\(proven.output)")
            let last = try await Self.output(
                "audit prove-growth --from early 2>/dev/null | grep -q assay-growth-proof/1", folder)
            #expect(last.status == 0, "\(last.output)")
            let key = try await Program.shell("assay keys signing --for log", in: folder).output
                .trimmingCharacters(in: .whitespacesAndNewlines)
            let swapped = try await Self.output("audit prove-growth --from checkpoint --to early", folder)
            #expect(swapped.status == 2 && swapped.output.contains("exchange"), "\(swapped.output)")
            try await Program.inTemporaryFolder { empty in
                for name in ["growth.json", "early", "checkpoint"] {
                    try FileManager.default.copyItem(
                        at: folder.appending(path: name), to: empty.appending(path: name))
                }
                for checkpoints in ["", " --from early --to checkpoint"] {
                    let checked = try await Self.output(
                        "audit check-growth growth.json --key '\(key)'" + checkpoints, empty)
                    #expect(checked.status == 0 && checked.output.contains("the proof holds"), "\(checked.output)")
                }
                let other = try await Self.output(
                    "audit check-growth growth.json --key '\(key)' --from checkpoint", empty)
                #expect(other.status == 1 && other.output.contains("log_proof_invalid"), "\(other.output)")
                let change = """
                    python3 -c 'import json; p = json.load(open("growth.json")); h = p["path"][0]
                    p["path"][0] = ("A" if h[0] != "A" else "B") + h[1:]; json.dump(p, open("wrong.json", "w"))'
                    """
                _ = try await Program.shell(change, in: empty)
                let wrong = try await Self.output("audit check-growth wrong.json --key '\(key)'", empty)
                #expect(wrong.status == 1 && wrong.output.contains("log_proof_invalid"), "\(wrong.output)")
                #expect(try await Self.output("audit check-growth growth.json", empty).status == 2)
                #expect(try await Self.output("audit check-growth early --key '\(key)'", empty).status == 2)
            }
        }
    }

    @Test("E.5 A proof of growth with other, exchanged or changed checkpoints is refused with the reason")
    func wrongGrowth() async throws {
        try await Self.inFolder { other in
            try await RunningServer.run(Self.serve, in: other) { server in
                for number in 0..<4 { try await Self.claim(number, server, other) }
            }
            let foreignKey = try await Program.shell("assay keys signing --for log", in: other).output
                .trimmingCharacters(in: .whitespacesAndNewlines)
            try await Self.inFolder { folder in
                try await RunningServer.run(Self.serve, in: folder) { try await Self.claim(0, $0, folder) }
                _ = try await Program.shell("cp checkpoint early; cp \(other.path)/checkpoint foreign", in: folder)
                try await RunningServer.run(Self.serve, in: folder) { server in
                    for number in 1..<4 { try await Self.claim(number, server, folder) }
                }
                let key = try await Program.shell("assay keys signing --for log", in: folder).output
                    .trimmingCharacters(in: .whitespacesAndNewlines)
                let proven = try await Self.output(
                    "audit prove-growth --from early --to checkpoint -o growth.json", folder)
                try #require(proven.status == 0, "\(proven.output)")
                let change = """
                    import json
                    def change(name, act):
                        proof = json.load(open("growth.json")); act(proof); json.dump(proof, open(name, "w"))
                    change("exchanged.json", lambda p: p.update({"from": p["to"], "to": p["from"]}))
                    change("shorter.json", lambda p: p["path"].pop())
                    change("longer.json", lambda p: p["path"].append(p["path"][0]))
                    change("swapped.json", lambda p: p["path"].reverse())
                    change("mixed.json", lambda p: p.update({"from": open("foreign").read()}))
                    change("signature.json", lambda p: p.update({"to": p["to"].replace("example.com", "example.org", 1)}))
                    change("format.json", lambda p: p.update({"format": "assay-growth-proof/2"}))
                    """
                try change.write(to: folder.appending(path: "change.py"), atomically: true, encoding: .utf8)
                _ = try await Program.shell("python3 change.py; head -c 200 growth.json > cut.json", in: folder)
                let checks: [(String, Int32, String)] = [
                    ("check-growth growth.json --key '\(key)'", 0, "the proof holds"),
                    ("check-growth exchanged.json --key '\(key)'", 1, "log_proof_invalid"),
                    ("check-growth shorter.json --key '\(key)'", 1, "log_proof_invalid"),
                    ("check-growth longer.json --key '\(key)'", 1, "log_proof_invalid"),
                    ("check-growth swapped.json --key '\(key)'", 1, "log_proof_invalid"),
                    ("check-growth mixed.json --key '\(key)' --key '\(foreignKey)'", 1, "log_proof_invalid"),
                    ("check-growth signature.json --key '\(key)'", 1, "log_"),
                    ("check-growth growth.json --key '\(foreignKey)'", 1, "log_"),
                    ("check-growth growth.json --key '\(key)' --from checkpoint --to early", 1, "log_proof_invalid"),
                    (
                        "check-growth growth.json --key '\(key)' --key '\(foreignKey)' --to foreign", 1,
                        "the checkpoint of --to"
                    ),
                    ("check-growth growth.json --key '\(key)' --to foreign", 2, "foreign"),
                    ("check-growth format.json --key '\(key)'", 2, "assay-growth-proof/1"),
                    ("check-growth cut.json --key '\(key)'", 2, "log_malformed"),
                    ("prove-growth --from foreign --key '\(foreignKey)'", 1, "record_"),
                    ("prove-growth --from foreign", 2, "foreign"),
                    ("prove-growth --from checkpoint --to early", 2, "exchange"),
                ]
                for (command, status, message) in checks {
                    let result = try await Self.output("audit \(command)", folder)
                    #expect(
                        result.status == status && result.output.contains(message),
                        "\(command): \(result.status), \(result.output)")
                }
            }
        }
    }

    @Test("A.7 An origin in the settings that is not that of the existing key is an error with both names")
    func ignoredOrigin() async throws {
        try await Self.inFolder { folder in
            _ = try await Program.shell("sed -i 's#origin: .*#origin: example.com/other#' assay.yaml", in: folder)
            for command in ["serve --port 0", "keys create --app game --scope client", "keys signing --for log"] {
                let refused = try await Self.output(command, folder)
                #expect(
                    refused.status == 2 && refused.output.contains("log_origin_differs")
                        && refused.output.contains("example.com/other") && refused.output.contains("example.com/assay"),
                    "\(command): \(refused.output)")
            }
        }
    }

    @Test("A stopped server has sealed, signed and published everything, and its database is one file")
    func stop() async throws {
        try await Self.inFolder { folder in
            let status = try await RunningServer.run(Self.serve, in: folder) { server in
                for number in 0..<4 { try await Self.claim(number, server, folder) }
            }
            #expect(status == 0)
            let entries = try await Self.leaves(folder)
            #expect(Self.published(folder) == entries)
            let wal = folder.appending(path: "assay.sqlite-wal").path
            let size = try? FileManager.default.attributesOfItem(atPath: wal)[.size] as? Int
            #expect(size ?? 0 == 0)
            let audit = try await Self.output("audit verify", folder)
            #expect(audit.status == 0 && !audit.output.contains("wait for the log"), "\(audit.output)")
            #expect(try await Self.output("audit verify --no-such-option", folder).status == 2)
            #expect(try await Self.output("audit verify --key 12", folder).status == 2)
        }
    }

    @Test("33.4 An audit that goes on with a kept file names what it examined and what not")
    func auditSince() async throws {
        try await Self.inFolder { folder in
            try await RunningServer.run(Self.serve, in: folder) { try await Self.claim(0, $0, folder) }
            let whole = try await Self.output("audit verify --since kept", folder)
            #expect(whole.status == 0 && !whole.output.contains("not examined"), "\(whole.output)")
            let leaves = Self.published(folder)
            try await RunningServer.run(Self.serve, in: folder) { try await Self.claim(1, $0, folder) }
            let audit = try await Self.output("audit verify --since kept", folder)
            #expect(audit.status == 0, "\(audit.output)")
            for line in [
                "1 journal entry, 1 piece of evidence", "since \(leaves) leaves; the rows of 1 purchase and 1 customer",
                "not examined: purchases and customers that no newer entry touched",
            ] {
                #expect(audit.output.contains(line), "\(line): \(audit.output)")
            }
            let again = try await Self.output("audit verify --since kept", folder)
            #expect(again.status == 0 && again.output.contains(" 0 journal entries"), "\(again.output)")
            #expect(try await Program.shell("stat -c %a kept; ls", in: folder).output.hasPrefix("600\n"))
            #expect(try await Self.output("audit verify --since kept --evidence", folder).status == 2)
            for other in ["checkpoint", "assay.sqlite", "no/folder"] {
                let refused = try await Self.output("audit verify --since \(other)", folder)
                #expect(refused.status == 2, "\(refused.output)")
            }
        }
    }

    @Test("Of two servers in one folder one signs, and both seal")
    func twoServers() async throws {
        try await Self.inFolder { folder in
            try await RunningServer.run(Self.serve, in: folder) { first in
                try await RunningServer.run("\(Self.serve) --checkpoints second 2>second.log", in: folder) { second in
                    try await Self.claim(0, first, folder)
                    try await Self.claim(1, second, folder)
                    let entries = try await Self.leaves(folder)
                    try await Self.wait { Self.published(folder) == entries }
                }
            }
            let log = try String(contentsOf: folder.appending(path: "second.log"), encoding: .utf8)
            #expect(log.contains("log_signer_busy"), "\(log)")
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "second").path))
            #expect(try await Self.output("audit verify --checkpoint checkpoint", folder).status == 0)
        }
    }

    @Test("A missing key of entries is not replaced; a different key is refused with both ids, and so is an open file")
    func entryKeys() async throws {
        try await Self.inFolder { folder in
            let move = try await Program.shell(
                "mv assay-entries.key kept; assay keys create --app game --scope client", in: folder)
            #expect(move.status == 2 && move.output.contains("entry_key_missing"), "\(move.output)")
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "assay-entries.key").path))
            let serve = try await Program.shell("assay serve --port 0", in: folder)
            #expect(serve.status == 2 && serve.output.contains("entry_key_missing"), "\(serve.output)")
            let other =
                "mkdir other; (cd other; assay keys create --app game --scope client) >/dev/null; cp other/assay-entries.key ."
            try #require(try await Program.shell(other, in: folder).status == 0)
            let wrong = try await Self.output("keys create --app game --scope client", folder)
            #expect(wrong.status == 2 && wrong.output.contains("entry_key_differs"), "\(wrong.output)")
            #expect(wrong.output.matches(of: /key [0-9a-f]{8}/).count == 2, "\(wrong.output)")
            let audit = try await Self.output("audit verify", folder)
            #expect(audit.status == 1 && audit.output.contains("entry_key_differs"), "\(audit.output)")
            let named = try await Self.output("keys create --app game --scope client --entry-key kept", folder)
            #expect(named.status == 0, "\(named.output)")
            let open = try await Program.shell(
                "chmod 644 kept; assay keys create --app game --scope client --entry-key kept", in: folder)
            #expect(open.status == 2 && open.output.contains("log_file_mode"), "\(open.output)")
        }
    }

    @Test(
        "After a restore from a backup nothing is signed until the origin is continued, and both origins are explained")
    func restored() async throws {
        try await Self.inFolder { folder in
            try await RunningServer.run(Self.serve, in: folder) { try await Self.claim(0, $0, folder) }
            let kept = Self.published(folder)
            _ = try await Program.shell("cp assay.sqlite backup; cp checkpoint early", in: folder)
            try await RunningServer.run(Self.serve, in: folder) { server in
                for number in 1..<4 { try await Self.claim(number, server, folder) }
            }
            let lost = Self.published(folder)
            #expect(lost == kept + 3)
            let refused = try await Self.output("audit continue --reason test", folder)
            #expect(refused.status == 1 && refused.output.contains("record_not_interrupted"), "\(refused.output)")
            _ = try await Program.shell(
                "rm -f assay.sqlite-*; cp backup assay.sqlite; cp checkpoint late; rm checkpoint", in: folder)
            let shorter = try await Self.output("audit verify", folder)
            #expect(
                shorter.status == 1 && shorter.output.contains("record_shorter_than_checkpoint"), "\(shorter.output)")
            try await RunningServer.run("\(Self.serve) 2>log", in: folder) { server in
                try await Self.claim(1, server, folder)
                try await Self.wait {
                    try String(contentsOf: folder.appending(path: "log"), encoding: .utf8)
                        .contains("record_shorter_than_checkpoint")
                }
                let busy = try await Self.output("audit continue --reason 'disk failure'", folder)
                #expect(busy.status == 2 && busy.output.contains("log_signer_busy"), "\(busy.output)")
            }
            #expect(Self.published(folder) == 0)
            let continued = try await Self.output("audit continue --reason 'disk failure' 2>/dev/null", folder)
            #expect(continued.status == 0 && continued.output.hasPrefix("example.com/assay/2+"), "\(continued.output)")
            try await RunningServer.run(Self.serve, in: folder) { try await Self.claim(2, $0, folder) }
            #expect(Self.published(folder) > kept)
            // The keys of both origins, and checkpoints of all times.
            let old = try await Program.shell(
                "assay keys signing --for log --signing-key assay-log.key.????????", in: folder
            ).output
                .trimmingCharacters(in: .whitespacesAndNewlines)
            let audit = try await Self.output(
                "audit verify --checkpoint early --checkpoint late --checkpoint checkpoint --key '\(old)'", folder)
            #expect(audit.status == 0 && audit.output.contains("disk failure"), "\(audit.output)")
            // Without the key of entries, the entry cannot be authenticated.
            let outside = try await Self.output(
                "audit verify --checkpoint late --key '\(old)' --entry-key nowhere", folder)
            #expect(outside.status == 1 && outside.output.contains("record_"), "\(outside.output)")
        }
    }

    @Test("A checkpoint is posted to a URL until it is accepted, and sealing does not wait for it")
    func url() async throws {
        try await Self.inFolder { folder in
            // It redirects, fails, and then accepts the request.
            let receiver = """
                import http.server
                class Handler(http.server.BaseHTTPRequestHandler):
                    count = 0
                    def do_POST(self):
                        body = self.rfile.read(int(self.headers['content-length']))
                        Handler.count += 1
                        if Handler.count < 3:
                            self.send_response(302 if Handler.count == 1 else 500)
                            self.send_header('Location', '/elsewhere')
                        else:
                            open('received', 'wb').write(body)
                            self.send_response(204)
                        self.send_header('Content-Length', '0')
                        self.end_headers()
                    def log_message(self, *arguments): open('requests', 'a').write(self.path + '\\n')
                server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
                print('http://127.0.0.1:%d' % server.server_port, flush=True)
                server.serve_forever()
                """
            try receiver.write(to: folder.appending(path: "receiver.py"), atomically: true, encoding: .utf8)
            try await RunningServer.run("python3 receiver.py", in: folder) { receiver in
                let serve = "\(Self.serve) --checkpoints \(receiver.address)/note --checkpoints checkpoint 2>log"
                let status = try await RunningServer.run(serve, in: folder) { server in
                    try await Self.claim(0, server, folder)
                    let entries = try await Self.leaves(folder)
                    try await Self.wait { Self.published(folder) == entries }
                    try await Self.wait {
                        FileManager.default.contentsEqual(
                            atPath: folder.appending(path: "received").path,
                            andPath: folder.appending(path: "checkpoint").path)
                    }
                    // The last sealed checkpoint is published when the server stops.
                    try await Self.claim(1, server, folder)
                }
                #expect(status == 0)
            }
            #expect(
                FileManager.default.contentsEqual(
                    atPath: folder.appending(path: "received").path, andPath: folder.appending(path: "checkpoint").path)
            )
            let requests = try String(contentsOf: folder.appending(path: "requests"), encoding: .utf8)
            #expect(!requests.contains("/elsewhere"))
            let log = try String(contentsOf: folder.appending(path: "log"), encoding: .utf8)
            #expect(log.contains("status 302") && log.contains("status 500"), "\(log)")
        }
    }
}
