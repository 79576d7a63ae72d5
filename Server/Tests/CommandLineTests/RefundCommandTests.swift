import Foundation
import Testing

/// `assay report refunds` and the list, beside a server that answers the store's questions.
@Suite("29 assay refunds", .serialized)
struct RefundCommandTests {
    @Test("29 The list shows what Apple was told; a replay shows what another policy would have said")
    func refunds() async throws {
        try await AskedStore.run { store in
            let folder = store.folder
            _ = try await Program.shell("assay keys create --app game --scope admin 2>/dev/null > key", in: folder)
            let (unused, used) = (try await store.buy("coins", by: "ada"), try await store.buy("coins", by: "bob"))
            try store.write([("ada", unused), ("bob", used)], to: "numbers.csv")
            #expect(try await store.assay("import --app game --consumables balance numbers.csv").status == 0)
            try await RunningServer.run("assay serve --port 0 --log-level error 2>>log", in: folder) { server in
                try await store.post("notifications/url", ["url": "\(server.address)/notifications/v2"])
                func send(_ method: String, _ path: String, _ body: String) async throws {
                    let answer = try await Program.shell(
                        #"curl -sS -w '%{http_code}' -X \#(method) -H "Authorization: Bearer $(cat key)" "#
                            + "-H 'Content-Type: application/json' -H 'Idempotency-Key: 1' --data '\(body)' \(server.address)\(path)",
                        in: folder)
                    #expect(answer.output.hasSuffix("200"), "\(answer.output)")
                }
                for customer in ["ada", "bob"] {
                    try await send("PUT", "/v1/customers/\(customer)/consumption_consent", #"{"consented":true}"#)
                }
                try await send(
                    "POST", "/v1/customers/bob/consume",
                    #"{"product_id":"coins","quantity":1,"consumption_id":"sword"}"#)
                try await store.post("transactions/\(unused)/ask-for-refund", [:])
                try await store.post("transactions/\(used)/ask-for-refund", [:])
                var told: [String: Any] = [:]
                for _ in 0..<3000 {
                    guard told.count < 2 else { break }
                    try await Task.sleep(for: .milliseconds(200))
                    told = try await store.call("GET", "consumption")
                }
                try #require(told.count == 2)
                try await store.post("transactions/\(used)/decline-refund", [:])
                try await store.post("notifications/deliver", [:])
            }
            let list = try await store.assay("list refunds --app game")
            #expect(list.status == 0, "\(list.output)")
            let lines = list.output.split(separator: "\n").map(String.init)
            let head = try #require(lines.first { $0.hasPrefix("ASKED") }, "\(list.output)")
            let titles = head.split(separator: " ").map(String.init)
            // Columns without a value are left out.
            #expect(titles == ["ASKED", "STATE", "CUSTOMER", "PRODUCT", "TRANSACTION", "USED", "APPLE"])
            for (customer, transaction, share) in [("ada", unused, "0"), ("bob", used, "100000")] {
                let line = try #require(lines.first { $0.contains(" \(customer) ") }, "\(list.output)")
                let cells = line.split(separator: " ").map(String.init)
                #expect(cells.contains("sent") && cells.contains(transaction) && cells.contains(share), "\(line)")
                #expect(cells.contains("REFUND_DECLINED") == (customer == "bob"), "\(line)")
            }
            let open = try await store.assay("list refunds --app game --state open")
            #expect(open.status == 0 && !open.output.contains(unused), "\(open.output)")
            let json = try await store.assay("list refunds --app game --json")
            #expect(json.output.contains(#""state":"sent""#), "\(json.output)")

            try Data("{}\n".utf8).write(to: folder.appending(path: "same.yaml"))
            let same = try await store.assay("report refunds --app game --policy same.yaml")
            #expect(
                same.output.contains(
                    "2 requests of 365 days, 0 with another answer; 0 without a recorded decision"), "\(same.output)")
            try Data("products:\n  coins: { unused: grant_full, used: decline }\n".utf8)
                .write(to: folder.appending(path: "other.yaml"))
            let other = try await store.assay("report refunds --app game --policy other.yaml")
            #expect(other.status == 0, "\(other.output)")
            for line in [
                "PRODUCT  SAID", "coins ", "grant_full", "decline",
                "2 requests of 365 days, 2 with another answer; 0 without a recorded decision",
            ] {
                #expect(other.output.contains(line), "\(line) in \(other.output)")
            }
            for (policy, words) in [
                ("unused: grant_prorated\n", "grant_prorated"), ("unsed: decline\n", "unsed"),
                ("- a\n", "not a mapping"),
            ] {
                try Data(policy.utf8).write(to: folder.appending(path: "wrong.yaml"))
                let wrong = try await store.assay("report refunds --app game --policy wrong.yaml")
                #expect(wrong.status == 2 && wrong.output.contains(words), "\(policy): \(wrong.output)")
            }
            let missing = try await store.assay("report refunds --app game --policy none.yaml")
            #expect(missing.status == 2 && missing.output.contains("no such file"), "\(missing.output)")
        }
    }
}
