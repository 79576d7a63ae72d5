import EvidenceMint
import Foundation
import GRDB
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Query plans", .tags(.everyEngine))
struct QueryPlanTests {
    var folder: URL { CurrentWorld.opened() }

    /// Statements that scan a small table: the settings, and the list of keys for operators.
    private let wholeTables = [
        // The tables of SQLite, a few dozen: whether a migration waits for its end.
        "FROM sqlite_master WHERE type = 'table'",
        "FROM schema_migrations", "FROM rules", "FROM apps", "FROM bundles", "FROM api_keys", "FROM testers JOIN",
        "FROM webhooks WHERE app_key = ?1 ORDER BY environment, url",
        // Sorts the notifications of one subscription.
        "transaction_key IN (SELECT transaction_key FROM transactions",
        // Sorts one page, which its own index found.
        "entry_key IN (SELECT entry_key FROM refused_claims",
        // A migration.
        "UPDATE entitlements SET ground =",
        "UPDATE events SET type = CASE", "UPDATE settings_history SET settings_key", "FROM settings_history AS earlier",
        "UPDATE orders SET fulfilled_units = quantity WHERE fulfilled_at IS NOT NULL",
    ]

    @Test("Every statement of an operation or a list is answered by an index, without a sort", .folder)
    func indexes() async throws {
        let path = folder.appending(path: "assay.sqlite").path
        let recorder = RecordingDatabase(try SQLiteDatabase(path: path))
        let world = try await LedgerWorld(recorder)
        try await exercise(world)
        let statements = Set(recorder.take()).filter { sql in
            sql.hasPrefix("SELECT") || sql.hasPrefix("UPDATE") || sql.hasPrefix("DELETE")
        }
        #expect(statements.count > 40)
        try await recorder.close()
        let queue = try DatabaseQueue(path: path)
        for sql in statements where !wholeTables.contains(where: sql.contains) {
            let plan = try await Self.plan(sql, queue)
            #expect(plan.allSatisfy { isIndexed($0, sql) }, "\(sql): \(plan)")
        }
    }

    private func isIndexed(_ step: String, _ sql: String) -> Bool {
        let isScan =
            step.hasPrefix("SCAN") && !step.contains("readiness") && !step.contains("environments")
            // The rows of a subquery with a limit.
            && step != "SCAN later" && step != "SCAN open" && step != "SCAN grounds"
        let isSort = step.contains("USE TEMP B-TREE") && !sql.contains("DISTINCT")
        // A condition on the app alone selects the whole table, unless the index is in the order of the list.
        let isWhole = step.hasSuffix("(app_key=?)") && !sql.contains("LIMIT") && !sql.contains("FROM products")
        return !isScan && !isSort && !isWhole
    }

    private static func plan(_ sql: String, _ queue: DatabaseQueue) async throws -> [String] {
        try await queue.read { database in
            let rows = try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN " + sql, arguments: nulls(sql))
            return rows.map { $0["detail"] as String }
        }
    }

    private func exerciseExternalPurchase(_ world: LedgerWorld) async throws {
        let (ledger, token) = (world.ledger, ExternalPurchase(id: "token-1", bundleID: "com.example.app"))
        _ = try await ledger.perform(StateExternalPurchase(app: "example", token: token, isDuplicate: false))
        let refund = try ExternalLineItem([
            "lineItemId": "a", "creationDate": 1, "eventType": "REFUND", "referenceLineItemId": "b",
            "amountTaxExclusive": 1, "taxAmount": 0, "amountTaxInclusive": 1, "netAmountTaxExclusive": 1,
            "reportingCurrency": "EUR", "pricingCurrency": "EUR", "taxCountry": "ESP",
        ])
        _ = try await ledger.perform(StateExternalPurchase(app: "example", id: "token-1", lineItems: [refund]))
        let work = LedgerWork(.externalPurchase, app: "example", environment: .production, subject: "token-1")
        let due = try #require(try await ledger.answer(ExternalReportDue(work)))
        let answer = RecordExternalReport.Answer.accepted(requestID: "r", due.status, due.lineItems)
        try await ledger.perform(RecordExternalReport(app: "example", id: "token-1", answer))
        _ = try await ledger.answer(ExternalPurchaseList(app: "example", limit: 5))
        _ = try await ledger.answer(ExternalPurchaseOfID(app: "example", id: "token-1"))
    }

    /// All operations of a server.
    private func exercise(_ world: LedgerWorld) async throws {
        let order = try await world.order(quantity: 2)
        let coins = try LedgerWorld.signed("1") { $0.quantity = 2 }
        _ = try await world.claim("1", order: order.id, coins)
        _ = try await world.claim("1", customer: "bob", coins)
        _ = try await world.claim("2", try LedgerWorld.signed("2"))
        _ = try await world.claim("901", product: LedgerWorld.monthly, try LedgerWorld.period("901", from: 0))
        _ = try await world.claim("3", try LedgerWorld.signed("3", product: LedgerWorld.pass))
        try await world.observe(
            try LedgerWorld.signed("1") {
                $0.quantity = 2
                $0.revocationDate = MintedWorld.moment.addingTimeInterval(7200)
                $0.revocationPercentage = 50_000
                $0.signedDate = $0.revocationDate
            })
        try await world.observe(try MintedWorld.mint(MintedWorld.notification(environment: "Production")))
        _ = try await world.consume(1, "c")
        try await world.assign(UUID(), to: "carol")
        try await world.tester("alice", true)
        try await world.move("2", to: "bob")
        let grant = try await world.grant(LedgerWorld.pro, to: "bob")
        try await world.revoke(grant: grant, of: "bob")
        try await world.merge("bob", into: "carol")
        let second = try await world.order("dora")
        _ = try await world.ledger.perform(CancelOrder(app: "example", orderID: second.id))
        _ = try await world.ledger.perform(ForgetIdempotencyKeys(age: 0))
        for status in [nil] + OrderStatus.allCases.map(Optional.some) {
            for customer in [nil, "alice"] {
                _ = try await world.ledger.answer(
                    OrderList(app: "example", status: status, customerID: customer, limit: 5))
            }
        }
        var filters = Array(repeating: SubmissionFilter(), count: 6)
        filters[1].customerID = "alice"
        filters[2].orderID = order.id
        filters[3].transactionID = "1"
        filters[4].code = "already_claimed"
        filters[5].from = world.clock.now
        for filter in filters {
            _ = try await world.ledger.answer(SubmissionList(app: "example", filter: filter, limit: 5))
        }
        _ = try await world.claim("77", customer: "Zoé", Array("forged".utf8))
        _ = try await world.ledger.answer(CustomerSearch(app: "example", text: "7a7a7a7", limit: 5))
        _ = try await world.ledger.answer(TransactionSearch(app: "example", text: "7", limit: 5))
        for filter in [
            NotificationFilter(), NotificationFilter(type: "REFUND"), NotificationFilter(customerID: "alice"),
            NotificationFilter(transactionID: "1"),
        ] {
            _ = try await world.ledger.answer(NotificationList(app: "example", filter: filter, limit: 5))
        }
        _ = try await world.ledger.answer(EventList(app: "example", limit: 5))
        for (number, customer) in [(1, "alice"), (2, "bob")] {
            var event = StripeEvent(
                id: "evt_\(number)", created: Int64(number), subscription: "sub_1", standing: .active, ends: 1,
                environment: .production)
            event.products = [ExactText(LedgerWorld.pro): Timestamp(millisecondsSince1970: 1 << 42)]
            event.customerID = customer
            _ = try await world.ledger.perform(RecordStripeEvent(app: "example", event))
        }
        try await exerciseWebhook(world)
        try await exerciseExternalPurchase(world)
        _ = try await world.ledger.answer(PurchasesOfCustomer(app: "example", customerID: "alice", limit: 5))
        _ = try await world.ledger.answer(HeldPurchases(app: "example", limit: 5))
        try await world.observe(try NotificationTests.rescission("70"))
        _ = try await world.entitlement()
        _ = try await world.entitlement(at: world.clock.now)
        let answer = ForeignAnswer(customerID: "alice", .product(LedgerWorld.coins), isActive: false)
        _ = try await world.ledger.answer(CompareAnswers(app: "example", [answer]))
        _ = try await world.ledger.answer(TesterList(app: "example", limit: 5))
    }

    private func exerciseWebhook(_ world: LedgerWorld) async throws {
        let (url, owner) = ("https://example.com/", [UInt8](repeating: 1, count: 16))
        _ = try await world.ledger.answer(WebhookVacancy(app: "example", url: url, owner: owner))
        let taking = LeaseWebhook(app: "example", url: url, owner: owner, beginning: 0)
        var lease = try #require(try await world.ledger.perform(taking))
        let events = try await world.ledger.answer(OutgoingEvents(app: "example", after: 0, limit: 5))
        let first = try #require(events.first)
        lease.cursor = first.key
        let failed = UndeliveredEvent(
            first, .retry, attempts: 1, firstAt: world.clock.now, nextAt: world.clock.now, lastError: "closed")
        _ = try await world.ledger.perform(RecordDeliveries(lease, undelivered: [failed]))
        #expect(try await world.ledger.answer(DueDeliveries(app: "example", lease, limit: 5)).count == 1)
        let delivered = LaneOutcome(lane: .customer(first.customer), delivered: [first.key])
        _ = try await world.ledger.perform(RecordDeliveries(lease, lanes: [delivered]))
        _ = try await world.ledger.answer(WebhookList(app: "example"))
        for change in [ChangeWebhook.Change.resend(event: nil), .resend(event: 1), .disable(reason: "test"), .enable] {
            _ = try await world.ledger.perform(ChangeWebhook(app: "example", url: url, change))
        }
        try await world.ledger.perform(ReleaseWebhook(lease))
        try await exerciseForward(world, url, owner)
    }

    private func exerciseForward(_ world: LedgerWorld, _ url: String, _ owner: [UInt8]) async throws {
        let stream = WebhookStream.notifications(.production)
        _ = try await world.ledger.answer(WebhookVacancy(app: "example", stream, url: url, owner: owner))
        let taking = LeaseWebhook(app: "example", stream, url: url, owner: owner, beginning: 0)
        var lease = try #require(try await world.ledger.perform(taking))
        try await world.observe(try MintedWorld.mint(MintedWorld.testNotification(environment: "Production")))
        let events = try await world.ledger.answer(OutgoingEvents(app: "example", stream, after: 0, limit: 5))
        let first = try #require(events.first)
        lease.cursor = first.key
        let failed = UndeliveredEvent(
            first, .dead, attempts: 1, firstAt: world.clock.now, nextAt: nil, lastError: "closed")
        _ = try await world.ledger.perform(RecordDeliveries(lease, undelivered: [failed]))
        _ = try await world.ledger.answer(DueDeliveries(app: "example", lease, limit: 5))
        _ = try await world.ledger.answer(WebhookList(app: "example"))
        try await world.ledger.perform(ReleaseWebhook(lease))
    }

    private static func nulls(_ sql: String) -> StatementArguments {
        let count = sql.matches(of: /\?(\d+)/).compactMap { Int($0.output.1) }.max() ?? 0
        return StatementArguments(Array(repeating: DatabaseValue.null, count: count))
    }
}
