import Foundation
import TestSupport
import Testing

/// `assay dev`, as a developer uses it.
@Suite("assay dev")
struct DevTests {
    @Test(
        "A purchase in the store is granted by the server, which follows the store's clock and renewals, and keys stay after a restart"
    )
    func purchase() async throws {
        try await Program.inTemporaryFolder { folder in
            var keys: [String] = []
            for round in 1...2 {
                try await RunningServer.run("assay dev --port 0 --store-port 0 --no-open", in: folder) { running in
                    let store = try #require(
                        running.line.split { " ;\n".contains($0) }.filter { $0.hasPrefix("http://") }.last)
                    func shell(_ command: String) async throws -> String {
                        let result = try await Program.shell(
                            command, in: folder,
                            environment: ["STORE": String(store), "SERVER": running.address])
                        #expect(result.status == 0, "\(result.output)")
                        return result.output
                    }
                    keys.append(try String(contentsOf: folder.appending(path: "assay-dev/client.key"), encoding: .utf8))
                    let entitlements = """
                        curl -sSf -H "Authorization: Bearer $(cat assay-dev/admin.key)" $SERVER/v1/customers/alice/entitlements
                        """
                    if round == 1 {
                        let granted = try await shell(
                            """
                            curl -sSf -H 'Content-Type: application/json' $STORE/app/purchases --data \
                            '{"bundle_id":"com.example.app","product_id":"monthly","customer_id":"alice"}' > sold
                            python3 -c 'import json; s = json.load(open("sold"))["transaction"]; print(json.dumps({\
                            "signed_transaction": s["evidence"]["signed_transaction"], "product_id": "monthly",\
                            "transaction_id": s["transaction"]["transaction_id"], "customer_id": "alice"}))' > claim
                            curl -sSf -H "Authorization: Bearer $(cat assay-dev/client.key)" $SERVER/v1/purchases --data @claim
                            """)
                        #expect(granted.contains(#""disposition":"granted""#), "\(granted)")
                        #expect(try await shell(entitlements).contains(#""state":"active""#))
                    } else {
                        // Each renewal of the year is a notification, also to the server on its new port.
                        _ = try await shell(
                            """
                            for request in 'clock {"advance":"P1Y"}' 'notifications/deliver {}'; do
                                curl -sSf -H 'Content-Type: application/json' "$STORE/control/${request%% *}" --data "${request#* }"
                            done
                            """)
                        #expect(try await shell(entitlements).contains(#""state":"active""#))
                    }
                }
            }
            #expect(keys.count == 2 && keys[0] == keys[1])
        }
    }

    /// Shell functions: a request to the store, which then delivers its notifications; a request to the server; a part
    /// of an answer.
    private static let functions = #"""
        set -e
        json='Content-Type: application/json'
        store() {
            curl -sSf -H "$json" "$STORE/control/$1" --data "$2"
            curl -sSf -H "$json" "$STORE/control/notifications/deliver" --data '{}' >/dev/null
        }
        server() {
            curl -sSf -X "$1" -H "$json" -H "Idempotency-Key: $2" -H "Authorization: Bearer $(cat assay-dev/admin.key)" \
                "$SERVER/v1/$2" ${3:+--data "$3"}
        }
        field() { python3 -c 'import json, sys
        value = json.load(sys.stdin)
        for name in sys.argv[1].split("."): value = value[int(name) if name.isdigit() else name]
        print(value)' "$1"; }
        access() { server GET customers/alice/entitlements | field "entitlements.0.$1"; }
        buy() {
            store purchases "{\"bundle_id\":\"com.example.app\",\"customer_id\":\"alice\",\"product_id\":\"$1\",\"app_account_token\":\"$2\"}"
        }

        """#

    @Test("28.4 A purchase, a renewal and a refund in the store reach the server by themselves, without any claim")
    func noClaim() async throws {
        try await Program.inTemporaryFolder { folder in
            try await RunningServer.run("assay dev --port 0 --store-port 0 --no-open", in: folder) { running in
                let store = try #require(
                    running.line.split { " ;\n".contains($0) }.filter { $0.hasPrefix("http://") }.last)
                let steps = #"""
                    token=6f1b5b5e-3c1e-4c0f-9f0a-0d7f4c1e2a3b
                    server PUT customers/alice/app_account_token "{\"app_account_token\":\"$token\"}" >/dev/null
                    monthly=$(buy monthly $token | field transaction.transaction_id)
                    echo "bought: $(access state)"
                    side="control/customers/alice/server-entitlements?bundle_id=com.example.app"
                    echo "beside: $(curl -sSf "$STORE/$side" | field answer.entitlements.0.state)"
                    store customers '{"customer_id":"jörg"}' >/dev/null
                    echo "encoded: $(curl -sS "$STORE/control/customers/j%C3%B6rg/server-entitlements?bundle_id=com.example.app" | field status)"
                    console=$(curl -sSf "$STORE/control/overview" | field console)
                    echo "console: $(curl -sS -o page -w '%{http_code}' "$console/sign-in") $(grep -c '<h1>' page)"
                    first=$(access until)
                    renewed=$(store "subscriptions/$monthly/renew" '{}' | field transaction.transaction_id)
                    [ "$(access until)" != "$first" ] && echo "renewed: $(access state)"
                    store "transactions/$renewed/refund" '{}' >/dev/null
                    echo "refunded: $(access state)"
                    store clock '{"advance_seconds":60}' >/dev/null
                    store "transactions/$renewed/reverse-refund" '{}' >/dev/null
                    echo "reversed: $(access state)"
                    server POST orders '{"customer_id":"alice","product_id":"coins"}' >order
                    buy coins "$(field app_account_token <order)" >/dev/null
                    echo "ordered: $(server GET "orders/$(field order_id <order)" | field status)"
                    echo "failed: $(curl -sSf "$STORE/control/notifications" | field failed)"
                    echo "entries: $(server GET 'notifications?limit=100' | grep -o '"notification_id"' | wc -l)"
                    """#
                let result = try await Program.shell(
                    Self.functions + steps, in: folder,
                    environment: ["STORE": String(store), "SERVER": running.address])
                let expected = """
                    bought: active
                    beside: active
                    encoded: 200
                    console: 200 1
                    renewed: active
                    refunded: withdrawn
                    reversed: active
                    ordered: paid
                    failed: 0
                    entries: 5

                    """
                #expect(result.output == expected)
            }
        }
    }

    @Test(
        "11 The folder has a key for the backend, commands take its ledger by --folder, customers are of production, products are registered, and Ctrl-C is quiet"
    )
    func firstHour() async throws {
        try await Program.inTemporaryFolder { folder in
            let status = try await RunningServer.run(
                "assay dev --port 0 --store-port 0 --no-open 2>log", in: folder
            ) { running in
                let store = try #require(
                    running.line.split { " ;\n".contains($0) }.filter { $0.hasPrefix("http://") }.last)
                let steps = #"""
                    store customers '{"customer_id":"bob"}' | field environment
                    store products '{"bundle_id":"com.example.app","product_id":"gems","kind":"consumable"}' >/dev/null
                    for product in gems pro; do
                        assay customers grant --folder assay-dev bob $product --reason test 2>&1 >/dev/null | grep -v '^assay: database' || true
                    done
                    store purchases '{"bundle_id":"com.example.app","customer_id":"bob","product_id":"coins"}' >sold
                    python3 -c 'import json; s = json.load(open("sold")); print(json.dumps({
                    "signed_transaction": s["evidence"]["signed_transaction"], "product_id": "coins",
                    "transaction_id": s["transaction"]["transaction_id"], "customer_id": "bob"}))' >claim
                    curl -sSf -H "Authorization: Bearer $(cat assay-dev/backend.key)" $SERVER/v1/purchases --data @claim | field disposition
                    assay show --folder assay-dev bob 2>/dev/null | grep -cE '^ +(coins|gems|pro) .* active '
                    assay doctor --folder assay-dev --no-deliveries 2>/dev/null | grep -c ' settings .* 1 app,' || true
                    assay audit verify --evidence --folder assay-dev 2>/dev/null | tail -n 1
                    kill -INT \#(running.processIdentifier)
                    """#
                let result = try await Program.shell(
                    Self.functions + steps, in: folder,
                    environment: ["STORE": String(store), "SERVER": running.address])
                let expected = """
                    production
                    granted
                    3
                    1
                    assay: the journal, its evidence and the tables agree

                    """
                #expect(result.output == expected)
                try await RecordCommandTests.wait {
                    // The process is gone, or waits to be collected.
                    let stat = "/proc/\(running.processIdentifier)/stat"
                    return (try? String(contentsOfFile: stat, encoding: .utf8))?.contains(") Z ") ?? true
                }
            }
            #expect(status == 0)
            let log = try String(contentsOf: folder.appending(path: "log"), encoding: .utf8)
            let lines = log.split(separator: "\n").filter {
                !$0.hasPrefix("assay: made the ") && !$0.contains("console")
            }
            #expect(lines.isEmpty, "\(log)")
        }
    }

    @Test(
        "9 The lines of the README make verifyReceipt live, and a refund is in the next answer about the same receipt")
    func readme() async throws {
        let page = try String(contentsOf: Corpus.projectFolder.appending(path: "README.md"), encoding: .utf8)
        let commands = page.components(separatedBy: "\n## ")[0].matches(of: /(?m)^    \$ (curl .*)$/).map {
            String($0.1)
        }
        #expect(commands.count == 2)
        try await Program.inTemporaryFolder { folder in
            try await RunningServer.run("assay dev --port 0 --store-port 0 --no-open", in: folder) { running in
                let store = try #require(
                    running.line.split { " ;\n".contains($0) }.filter { $0.hasPrefix("http://") }.last)
                func shell(_ steps: String) async throws -> String {
                    try await Program.shell(
                        Self.functions + steps, in: folder,
                        environment: ["STORE": String(store), "SERVER": running.address]
                    ).output
                }
                let asked = commands.map {
                    $0.replacing("http://127.0.0.1:8090", with: store)
                        .replacing("http://127.0.0.1:8080", with: running.address)
                }
                _ = try await shell(
                    #"""
                    store purchases '{"bundle_id":"com.example.app","customer_id":"alice","product_id":"monthly"}' >sold
                    """#)
                /// A busy machine can read the ledger too late for an answer, which then says so.
                func live(_ steps: String) async throws -> String {
                    var answer = try await shell(steps)
                    for _ in 0..<20 where !answer.contains("Assay-State: live") { answer = try await shell(steps) }
                    return answer
                }
                let answer = try await live(asked.joined(separator: "\n"))
                #expect(
                    answer.contains("Assay-State: live") && answer.contains(#""auto_renew_status":"1""#)
                        && answer.hasSuffix(#""status":0}"#) && !answer.contains("cancellation_date"), "\(answer)")
                _ = try await shell("store transactions/$(field transaction.transaction_id <sold)/refund '{}'")
                let later = try await live(asked[1])
                #expect(later.contains("Assay-State: live") && later.contains("cancellation_date"), "\(later)")
            }
        }
    }

    @Test("B.5 The folder and its files are for their owner only, whatever the umask, also those of an earlier start")
    func modes() async throws {
        try await Program.inTemporaryFolder { folder in
            let opened = "find assay-dev -perm /077; stat -c %a assay-dev"
            for _ in 1...2 {
                try await RunningServer.run(
                    "sh -c 'umask 0; exec assay dev --port 0 --store-port 0 --no-open'", in: folder
                ) { _ async throws in
                    #expect(try await Program.shell(opened, in: folder).output == "700\n")
                }
                #expect(try await Program.shell(opened, in: folder).output == "700\n")
                _ = try await Program.shell("chmod -R go+rX assay-dev", in: folder)
            }
        }
    }

    @Test("A port in use is an error message that names the option of the port, with exit status 2")
    func portTaken() async throws {
        try await Program.inTemporaryFolder { folder in
            try await RunningServer.run("assay serve --port 0", in: folder) { server in
                let port = server.address.components(separatedBy: ":").last ?? ""
                for (option, other) in [("--port", "--store-port"), ("--store-port", "--port")] {
                    let result = try await Program.shell(
                        "timeout 120 assay dev --no-open \(option) \(port) \(other) 0", in: folder)
                    #expect(result.status == 2)
                    let words =
                        "assay: port \(port) is in use; choose another with \(option), or a free one with \(option) 0"
                    #expect(result.output.contains(words), "\(result.output)")
                }
            }
        }
    }

    @Test("The keys of answers are created once, printed again, and rotated to the announced key")
    func answerKeys() async throws {
        try await Program.inTemporaryFolder { folder in
            func keys(_ options: String = "") async throws -> [String: String] {
                let command = "assay keys signing --for answers --answer-key answers.key \(options) 2>/dev/null"
                let result = try await Program.shell(command, in: folder)
                #expect(result.status == 0, "\(result.output)")
                let pairs = result.output.split(separator: "\n").map { $0.split(separator: " ") }
                return Dictionary(uniqueKeysWithValues: pairs.map { (String($0[0]), String($0[1])) })
            }
            let first = try await keys()
            #expect(first.keys.sorted() == ["current", "next"])
            #expect(try await keys() == first)
            let second = try await keys("--rotate")
            #expect(second["current"] == first["next"])
            #expect(Set([first["current"], first["next"], second["next"]]).count == 3)
            for name in ["answers.key", "answers.key.next"] {
                let path = folder.appending(path: name).path
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                #expect(mode == 0o600)
            }
            try FileManager.default.removeItem(at: folder.appending(path: "answers.key.next"))
            #expect(try await keys() == ["current": second["current"] ?? ""])
            let refused = try await Program.shell(
                "assay keys signing --for answers --answer-key answers.key --rotate", in: folder)
            #expect(refused.status == 2 && refused.output.contains("put the next key back"))
            let unnamed = try await Program.shell("assay keys signing --for answers", in: folder)
            #expect(unnamed.status == 2 && unnamed.output.contains("--answer-key"))
        }
    }
}
