import Foundation
import GRDB
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// The cost of reading a page of a list must depend on the page, not on the table, whatever the filters.
@Suite("Cost of lists", .tags(.everyEngine))
struct ListCostTests {
    @Test("A page of every list, under every combination of filters, reads no more from a table ten times as large")
    func pages() async throws {
        let (small, large) = (try await costs(rows: 1000), try await costs(rows: 10_000))
        #expect(small.count == large.count && small.count > 200)
        for (name, cost) in large {
            let before = try #require(small[name], "\(name)")
            // Deeper trees take a few steps more.
            #expect(cost.steps <= before.steps * 5 / 4 + 300, "\(name): \(before.steps) steps, then \(cost.steps)")
            #expect(cost.sorts == 0, "\(name) sorts")
            // Three environments are read to find a transaction in each.
            #expect(cost.scannedRows <= 3, "\(name) scans \(cost.scannedRows) rows")
        }
        #expect(large.values.count { $0.steps > 0 } > 180)
        let most = try #require(large.max { $0.value.steps < $1.value.steps })
        print("lists: \(large.count) combinations, at most \(most.value.steps) steps (\(most.key))")
    }

    @Test("A start reads no more of a database ten times as large, also with settings that changed")
    func start() async throws {
        var (unchanged, changed): ([StatementCost], [StatementCost]) = ([], [])
        for rows in [1000, 10_000] {
            try await TemporaryFolder.with { folder in
                let path = folder.appending(path: "assay.sqlite").path
                let recorder = RecordingDatabase(try SQLiteDatabase(path: path))
                let world = try await LedgerWorld(recorder)
                _ = try await fill(world, path, rows: rows)
                let file = try DatabaseQueue(path: path)
                var app = LedgerWorld.app()
                for isChanged in [false, true] {
                    if isChanged { app.orderLifetime += 1 }
                    _ = recorder.take()
                    let started = try await world.restarted([app])
                    _ = try await started.ledger.answer(UncountedProducts(app: "example"))
                    let calls = recorder.takeCalls()
                    #expect(calls.count > 8)
                    let cost = try StatementCost(of: calls, in: file)
                    if isChanged { changed.append(cost) } else { unchanged.append(cost) }
                }
                try await recorder.close()
            }
        }
        print("start: \(unchanged.map(\.steps)) steps, with changed settings \(changed.map(\.steps))")
        for costs in [unchanged, changed] { #expect(costs[1].steps <= costs[0].steps * 5 / 4 + 300) }
    }

    /// The cost of each combination, by a name that is the same for every size.
    private func costs(rows: Int) async throws -> [String: StatementCost] {
        try await TemporaryFolder.with { folder in
            let path = folder.appending(path: "assay.sqlite").path
            let recorder = RecordingDatabase(try SQLiteDatabase(path: path))
            let world = try await LedgerWorld(recorder)
            let known = try await fill(world, path, rows: rows)
            let file = try DatabaseQueue(path: path)
            var costs: [String: StatementCost] = [:]
            func measure(_ name: String, _ query: some LedgerQuery) async throws {
                _ = recorder.take()
                _ = try await world.ledger.answer(query)
                // None if the filters contradict each other.
                let calls = recorder.takeCalls()
                #expect(costs[name] == nil, "\(name) twice")
                costs[name] = try StatementCost(of: calls, in: file)
            }
            for status in [nil] + OrderStatus.allCases.map(Optional.some) {
                for customer in [nil, "busy", "other"] {
                    for limit in [1, 20] {
                        try await measure(
                            "orders \(status?.rawValue ?? "all") \(customer ?? "-") \(limit)",
                            OrderList(app: "example", status: status, customerID: customer, limit: limit))
                    }
                }
            }
            for (name, filter) in Self.filters(known) {
                try await measure("submissions \(name)", SubmissionList(app: "example", filter: filter, limit: 5))
            }
            try await measure("events", EventList(app: "example", limit: 5))
            try await measure("last events", EventList(app: "example", after: Int64(rows), limit: 5))
            for customer in ["busy", "other"] {
                try await measure(
                    "purchases of \(customer)", PurchasesOfCustomer(app: "example", customerID: customer, limit: 5))
            }
            for (name, filter) in [
                ("", HeldPurchaseFilter()), ("of a product", HeldPurchaseFilter(productID: LedgerWorld.pro)),
                ("of the sandbox", HeldPurchaseFilter(environment: .sandbox)),
            ] {
                try await measure("held \(name)", HeldPurchases(app: "example", filter: filter, limit: 5))
            }
            try await measure("products", SoldProducts(app: "example", limit: 5))
            try await measure("testers", TesterList(app: "example", limit: 5))
            try await measure("entitlements", EntitlementsOfCustomer(app: "example", customerID: "other"))
            try await measure("order", OrderByID(app: "example", orderID: known.order))
            try await recorder.close()
            return costs
        }
    }

    private struct Known {
        let order: UUID
        let transaction: String
    }

    /// Every combination of the filters of submissions; each matches few or many.
    private static func filters(_ known: Known) -> [(String, SubmissionFilter)] {
        var filters: [(String, SubmissionFilter)] = [("", SubmissionFilter())]
        func vary(_ name: String, _ changes: [(String, (inout SubmissionFilter) -> Void)]) {
            filters = filters.flatMap { former, filter in
                [(former, filter)]
                    + changes.map { value, change in
                        var filter = filter
                        change(&filter)
                        return ("\(former) \(name)=\(value)", filter)
                    }
            }
        }
        vary("customer", [("busy", { $0.customerID = "busy" })])
        vary("order", [("known", { $0.orderID = known.order })])
        vary("transaction", [("known", { $0.transactionID = known.transaction })])
        vary("code", ["accepted", "already_claimed", "order_refunded"].map { code in (code, { $0.code = code }) })
        vary("verdict", [("accepted", { $0.verdict = .accepted }), ("rejected", { $0.verdict = .rejected })])
        let range = (from: Timestamp(millisecondsSince1970: 0), to: Timestamp(millisecondsSince1970: .max))
        vary("time", [("range", { ($0.from, $0.to) = range })])
        return filters
    }

    /// One row of each kind by real operations, and many copies of each. The rows that a rare filter matches are the
    /// oldest.
    private func fill(_ world: LedgerWorld, _ path: String, rows: Int) async throws -> Known {
        let rare = try await world.order("busy")
        _ = try await world.ledger.perform(CancelOrder(app: "example", orderID: rare.id))
        _ = try await world.claim("9", customer: "busy", try LedgerWorld.signed("2"))
        try await world.tester("busy", true)
        let order = try await world.order("busy")
        _ = try await world.claim("1", customer: nil, order: order.id, try LedgerWorld.signed("1"))
        _ = try await world.claim("1", customer: "other", try LedgerWorld.signed("1"))
        _ = try await world.order("busy", product: LedgerWorld.pro)
        for id in ["held 1", "held 2"] { try await world.observe(try LedgerWorld.signed(id)) }
        try await DatabaseQueue(path: path).write { database in
            let numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))"
            /// Copies rows, with new values in some columns.
            func multiply(_ table: String, _ changes: [String: String], where condition: String) throws {
                let columns = try database.columns(in: table).dropFirst().map(\.name)
                let values = columns.map { changes[$0] ?? $0 }
                try database.execute(
                    sql: """
                        INSERT INTO \(table) (\(columns.joined(separator: ", "))) \(numbers)
                        SELECT \(values.joined(separator: ", ")) FROM n, \(table) WHERE \(condition)
                        """)
            }
            try multiply(
                "orders", ["order_id": "randomblob(16)", "expires_at": "expires_at + i"], where: "status = 'created'")
            // Claims, and an equal number of other entries.
            try multiply("journal", ["entry_id": "randomblob(16)", "at": "at + i"], where: "kind IN (3, 4)")
            try multiply("events", [:], where: "event_key = 1")
            // Few products, and nearly all purchases of one that is missing in the settings.
            try database.execute(
                sql: "INSERT INTO products (app_key, product_id, first_known_at) SELECT 1, 'unknown', 0")
            try multiply("customers", ["reference": "randomblob(16)", "name": "name || i"], where: "customer_key = 1")
            try multiply("originals", ["original_id": "original_id || i"], where: "original_key = 1")
            try multiply(
                "transactions", ["transaction_id": "transaction_id || i", "owner_key": "1"],
                where: "transaction_key = 1")
            try database.execute(sql: "INSERT OR IGNORE INTO testers SELECT app_key, customer_key, 1 FROM customers")
        }
        return Known(order: order.id, transaction: "1")
    }
}
