import Foundation
import Testing

/// `assay import` of numbers alone, and `assay import backfill`, as processes that ask a simulated store.
@Suite("29 assay import backfill, and assay import of numbers alone", .serialized)
struct BackfillCommandTests {
    private static let importing = "import --app game --consumables delivered"

    @Test(
        "29 Numbers alone are fetched and claimed; each is recorded once; numbers that Apple does not prove are rejected"
    )
    func numbers() async throws {
        try await AskedStore.run { store in
            let gold = try await store.buy("gold", by: "ada")
            // The history of a customer has more than one page; only the purchase of the number is claimed.
            for _ in 0..<24 { _ = try await store.buy("coins", by: "ada") }
            let coins = try await store.buy("coins", by: "bob")
            let sandbox = try await store.buy("gold", by: "tester")
            let foreign = try await store.buy("coins", by: "bob", in: "com.example.other")
            try store.write(
                [("ada", gold), ("bob", coins), ("tester", sandbox), ("eve", "4711"), ("eve", foreign), ("eve", gold)],
                to: "numbers.csv")
            let first = try await store.assay("\(Self.importing) numbers.csv")
            #expect(first.status == 1, "\(first.output)")
            for words in [
                "6 rows have only the number of a purchase; fetching takes", "at Apple's limits",
                "line 5: rejected, number_unknown", "line 6: rejected, number_unknown",
                "line 7: rejected, already_claimed", "accepted                   3",
            ] {
                #expect(first.output.contains(words), "\(words) in \(first.output)")
            }
            #expect(try await store.shown("ada").contains(gold))
            #expect(try await store.shown("tester").contains(sandbox))

            // What is known is not asked for again: every call would be refused.
            try await store.post("faults/server-api", ["kind": "unauthorized", "operation": "statuses", "count": 1000])
            try store.write([("ada", gold), ("bob", coins), ("tester", sandbox)], to: "known.csv")
            let entries = try await store.count("SELECT count(*) FROM journal")
            let again = try await store.assay("\(Self.importing) known.csv")
            #expect(again.status == 0 && again.output.contains("3 of them had been imported before"), "\(again.output)")
            #expect(try await store.count("SELECT count(*) FROM journal") == entries)
            let piped = try await Program.shell("cat known.csv | assay \(Self.importing) -", in: store.folder)
            #expect(piped.status == 1 && piped.output.contains("field_missing"), "\(piped.output)")
            try await store.audit()
        }
    }

    @Test("B.2 The number of a restored copy is imported under its original, and the output says so")
    func copies() async throws {
        try await AskedStore.run { store in
            let gold = try await store.buy("gold", by: "ada")
            let restored = try await store.post(
                "receipts/restore", ["bundle_id": "com.example.app", "customer_id": "ada"])
            let copies = try #require(restored["restored"] as? [[String: Any]], "\(restored.keys)")
            let copy = try #require(copies.first?["transaction_id"] as? String)
            try #require(copy != gold)
            try store.write([("ada", copy), ("eve", copy)], to: "copies.csv")
            let trial = try await store.assay("\(Self.importing) --dry-run copies.csv")
            let first = try await store.assay("\(Self.importing) copies.csv")
            for output in [trial.output, first.output] {
                for words in [
                    "line 2: \(copy) is a restored copy, imported under its original \(gold)",
                    "line 3: rejected, already_claimed", "accepted                   1",
                ] {
                    #expect(output.contains(words), "\(words) in \(output)")
                }
            }
            #expect(try await store.shown("ada").contains(gold))
            // One purchase, which was granted once; what is known is not asked for again.
            let events = try await store.assay("list events --app game").output
            #expect(events.split(separator: "\n").count { $0.contains(" granted ") } == 1, "\(events)")
            try await store.post("faults/server-api", ["kind": "unauthorized", "operation": "statuses", "count": 1000])
            try store.write([("ada", copy), ("ada", gold)], to: "again.csv")
            let again = try await store.assay("\(Self.importing) again.csv")
            #expect(again.status == 0 && again.output.contains("2 of them had been imported before"), "\(again.output)")
            try await store.audit()
        }
    }

    @Test("29 A dry run fetches and writes nothing; without a key of the app the command says what is missing")
    func dryRun() async throws {
        try await AskedStore.run { store in
            let coins = try await store.buy("coins", by: "bob")
            try store.write([("bob", coins)], to: "numbers.csv")
            let before = try await store.count("SELECT count(*) FROM journal")
            let trial = try await store.assay("\(Self.importing) --dry-run numbers.csv")
            #expect(trial.status == 0 && trial.output.contains("accepted  1"), "\(trial.output)")
            #expect(try await store.count("SELECT count(*) FROM journal") == before)
            let settings = store.folder.appending(path: "assay.yaml")
            let text = try String(contentsOf: settings, encoding: .utf8)
            let keyless = try #require(text.range(of: "    app_store_keys")).lowerBound
            try text[..<keyless].write(to: settings, atomically: true, encoding: .utf8)
            for command in ["\(Self.importing) numbers.csv", "import backfill --app game --all"] {
                let refused = try await store.assay(command)
                #expect(refused.status == 2 && refused.output.contains("app_store_keys"), "\(refused.output)")
            }
        }
    }

    @Test("29 An import of numbers that is killed again and again, while Apple fails, ends with each purchase once")
    func kills() async throws {
        try await AskedStore.run { store in
            let crowd = try await store.post(
                "purchases/crowd",
                [
                    "bundle_id": "com.example.app", "product_id": "gold", "prefix": "member", "count": 60,
                    "environment": "production",
                ])
            let sold = try #require(crowd["purchases"] as? [[String: Any]])
            let rows = sold.compactMap { sold in
                (sold["transaction_id"] as? String).map { (customer: "user \($0)", number: $0) }
            }
            try #require(rows.count == 60)
            try store.write(rows, to: "numbers.csv")
            try await store.post("faults/server-api", ["kind": "retryable", "operation": "history", "count": 7])
            try await store.post("faults/server-api", ["kind": "reset", "operation": "statuses", "count": 5])
            let claims = "SELECT count(*) FROM journal WHERE kind = 3"
            var (kills, known, longest) = (0, 0, 0.6)
            for _ in 0..<100 {
                let script = """
                    touch stamp; assay \(Self.importing) numbers.csv > report 2>&1 & p=$!
                    while kill -0 $p 2>/dev/null && ! test assay.sqlite-wal -nt stamp; do sleep 0.02; done
                    sleep \(Double.random(in: 0...longest)); kill -KILL $p 2>/dev/null; wait $p; echo "status $?"
                    """
                let result = try await Program.shell(script, in: store.folder)
                let recorded = try await store.count(claims)
                #expect(recorded >= known && recorded <= 60)
                if recorded == known { longest += 0.5 }
                known = recorded
                if result.output.contains("status 0") { break }
                kills += 1
            }
            #expect(kills > 0 && known == 60, "\(kills) kills")
            #expect(try await store.count("SELECT count(*) FROM transactions") == 60)
            let last = try await store.assay("\(Self.importing) numbers.csv")
            #expect(last.status == 0 && last.output.contains("60 of them had been imported before"), "\(last.output)")
            try await store.audit()
        }
    }

    @Test("29 If Apple's limits do not set the pace, an import says again how long it takes, as measured")
    func pace() async throws {
        try await AskedStore.run { store in
            let crowd = try await store.post(
                "purchases/crowd",
                [
                    "bundle_id": "com.example.app", "product_id": "gold", "prefix": "member", "count": 300,
                    "environment": "production",
                ])
            let sold = try #require(crowd["purchases"] as? [[String: Any]])
            try store.write(
                sold.compactMap { sold in (sold["transaction_id"] as? String).map { (customer: "u\($0)", number: $0) }
                },
                to: "numbers.csv")
            // No machine fetches as many as these limits allow.
            try await store.raiseLimits(factor: 1000)
            let result = try await store.assay("\(Self.importing) numbers.csv")
            #expect(result.status == 0 && result.output.contains("accepted  300"), "\(result.output)")
            #expect(result.output.contains("fetching takes 0.0 s at Apple's limits"), "\(result.output)")
            let said = /24[0-9] numbers took .* s; at this pace the rest takes .* s/
            #expect(result.output.contains(said), "\(result.output)")
        }
    }

    @Test("29 A backfill reads what changed, by customer, by transaction and of all; a second one changes no value")
    func backfill() async throws {
        try await AskedStore.run { store in
            let gold = try await store.buy("gold", by: "ada")
            let coins = try await store.buy("coins", by: "bob")
            let sandbox = try await store.buy("gold", by: "tester")
            try store.write([("ada", gold), ("bob", coins), ("tester", sandbox)], to: "numbers.csv")
            #expect(try await store.assay("\(Self.importing) numbers.csv").status == 0)
            // The server learns nothing of these by notification.
            try await store.post("transactions/\(coins)/refund", [:])
            try await store.post("subscriptions/\(gold)/extend", ["days": 7])
            // Bought after what the ledger knows, beside the subscription: its statuses are not those of its own
            // number.
            let later = try await store.buy("coins", by: "ada")
            let before = try await store.shown("ada")
            let one = try await store.assay("import backfill --app game --customer ada")
            #expect(one.status == 0 && one.output.contains("1 purchase: at least 1 history"), "\(one.output)")
            let extended = try await store.shown("ada")
            #expect(extended != before, "the extension is known")
            #expect(try await store.count("SELECT count(*) FROM transactions") == 4, "and the later purchase \(later)")
            let kept = try await store.shown("bob")
            let other = try await store.assay("import backfill --app game --transaction \(coins)")
            #expect(other.status == 0, "\(other.output)")
            let refunded = try await store.shown("bob")
            #expect(refunded != kept, "the refund is known: \(refunded)")
            let all = try await store.assay("import backfill --app game --all")
            #expect(all.status == 0, "\(all.output)")
            let states = try await [store.shown("ada"), store.shown("bob"), store.shown("tester")]
            let entries = try await store.count("SELECT count(*) FROM journal")
            let second = try await store.assay("import backfill --app game --all")
            #expect(second.status == 0 && second.output.contains("with 0 transactions"), "\(second.output)")
            #expect(try await [store.shown("ada"), store.shown("bob"), store.shown("tester")] == states)
            // The statuses of the two subscriptions, which Apple signs anew: a transaction and renewal info of each.
            #expect(try await store.count("SELECT count(*) FROM journal") <= entries + 4)
            let unknown = try await store.assay("import backfill --app game --customer nobody")
            #expect(unknown.status == 1 && unknown.output.contains("customer_unknown"), "\(unknown.output)")
            let wrong = try await store.assay("import backfill --app game --all --customer ada")
            #expect(wrong.status == 2 && wrong.output.contains("Name one of"), "\(wrong.output)")
            try await store.audit()
        }
    }
}
