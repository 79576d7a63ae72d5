import AppStoreConnection
import Foundation
import HTTPTypes
import NIOCore
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import Testing

/// Each fault of the store in every place where the server uses the App Store Server API: claims of both modes, the
/// backfill of notifications, statuses, account tokens, refund requests, orders, refreshed subscriptions, extensions.
///
/// It takes two minutes of waiting, so it is part of `dev/torture.sh faults`; the client's own fault table is in every
/// run.
@Suite(
    "29 The fault table in every place that asks Apple", .serialized,
    .enabled(
        if: ProcessInfo.processInfo.environment["ASSAY_PLACE_FAULTS"] != nil, "dev/torture.sh faults runs it"))
struct PlaceFaultTests {
    /// A fault, and what is true while it lasts.
    struct Row: Sendable, CustomTestStringConvertible {
        /// The path of the control API.
        var path = "faults/server-api"
        let body: [String: any Sendable]
        /// Whether Apple's answers about transactions are true, late or with other types beside the signed text.
        var isTrue = false
        /// Whether the store may have carried out what it was asked.
        var isCarriedOut = false
        /// Whether only questions have the fault: the answer to a command has nothing that Apple signed.
        var isOfQuestions = false
        /// Whether the fault is about single operations, which the test counts.
        var isCounted: Bool { path == "faults/server-api" }
        var operations: [String] {
            guard isCounted else { return [""] }
            return AskingWorld.operations.filter {
                !isOfQuestions || ["transaction", "notification-history", "statuses", "order"].contains($0)
            }
        }
        /// The shortest time-outs, for an answer that does not end.
        var isEndless = false

        var testDescription: String {
            body.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        }
    }

    /// The only kind of fault that is run, for a look at one.
    private static let kind = ProcessInfo.processInfo.environment["ASSAY_PLACE_FAULT"]

    static let rows = [
        Row(body: ["kind": "latency", "milliseconds": 20], isTrue: true),
        Row(body: ["kind": "slow-body", "milliseconds": 3000], isCarriedOut: true, isEndless: true),
        Row(body: ["kind": "silence", "milliseconds": 3000], isCarriedOut: true, isEndless: true),
        Row(body: ["kind": "reset"], isCarriedOut: true), Row(body: ["kind": "closed-body"], isCarriedOut: true),
        Row(body: ["kind": "outage"]), Row(body: ["kind": "retryable"]),
        Row(body: ["kind": "error", "status": 502]), Row(body: ["kind": "error", "code": 5_000_000]),
        Row(body: ["kind": "error", "code": 4_040_002]),
        Row(body: ["kind": "too-many-requests", "milliseconds": 5000]), Row(body: ["kind": "unauthorized"]),
        Row(body: ["kind": "html"], isCarriedOut: true), Row(body: ["kind": "broken-json"], isCarriedOut: true),
        Row(body: ["kind": "wrong-types"], isTrue: true, isCarriedOut: true),
        Row(body: ["kind": "empty-object"], isOfQuestions: true),
        Row(body: ["kind": "huge-body", "bytes": 17_000_000], isCarriedOut: true),
        Row(body: ["kind": "another-transaction"], isOfQuestions: true),
        Row(body: ["kind": "another-app"], isOfQuestions: true), Row(body: ["kind": "stale"], isOfQuestions: true),
        Row(
            path: "faults/evidence", body: ["kind": "signed_transaction", "fault": "edited-claims"],
            isCarriedOut: true),
    ]

    @Test(
        "No fault grants, loses or ends anything wrongly: when it is over, each place has done what it had to, once",
        arguments: rows.filter { kind == nil || $0.body["kind"] as? String == kind })
    func places(_ row: Row) async throws {
        let short = AttemptLimits(connect: .seconds(20), read: .milliseconds(700), whole: .seconds(20))
        try await AskingWorld.run(limits: row.isEndless ? short : .patient) { world in
            // A period that will end, and a purchase for which a refund will be asked.
            let old = try await world.buy("gold", by: "ada", in: AskingWorld.open)
            #expect(try await world.claim(old, "gold", by: "ada", as: "open").status == 200)
            try await world.advance(seconds: 28 * 86_400 - 3600)
            let sold = try await world.buy("coins", by: "grace", in: AskingWorld.open, quantity: 2)
            #expect(try await world.claim(sold, "coins", by: "grace", as: "open").status == 200)
            let consent = try await world.send(
                .put, "/v1/customers/grace/consumption_consent", ["consented": true], as: "open")
            #expect(consent.status == 200)
            let gold = try await world.buy("gold", by: "ada")
            let spoiled = try await world.buy("coins", by: "grace")
            let late = try await world.buy("coins", by: "ada", in: AskingWorld.open)
            try await world.store.post("notifications/deliver", [:])
            try await world.pass("what was asked before the fault is answered") {
                try await world.sent().isSubset(of: world.received())
            }

            // From here on, Apple's answers are wrong, and notifications are lost.
            for operation in row.operations {
                var body: [String: Any] = row.body
                body["count"] = 100_000
                if row.isCounted { body["operation"] = operation }
                try await world.store.post(row.path, body)
            }
            try await world.store.post("transactions/\(sold.id)/ask-for-refund", [:])
            try await world.store.post("notifications/deliver", [:])
            try await world.store.post("faults/notifications", ["kind": "drop", "count": 100_000])
            try await world.store.post("transactions/\(spoiled.id)/refund", [:])
            try await world.advance(seconds: 7500)
            try await Self.during(row, world, gold, spoiled, late, old)

            _ = try await world.store.call("faults", .delete)
            try await Self.afterwards(row, world, gold, spoiled, late, old, sold)
        }
    }

    /// What happens while the fault lasts.
    private static func during(
        _ row: Row, _ world: AskingWorld, _ gold: AskingWorld.Bought, _ spoiled: AskingWorld.Bought,
        _ late: AskingWorld.Bought, _ old: AskingWorld.Bought
    ) async throws {
        let good = try await world.claim(gold, "gold", by: "ada", as: "game")
        let bad = try await world.claim(spoiled, "coins", by: "grace", as: "game")
        if row.isTrue {
            #expect(good.status == 200 && bad.code == "purchase_withdrawn", "\(good) \(bad)")
        } else {
            #expect([good.code, bad.code] == ["app_store_pending", "app_store_pending"], "\(good) \(bad)")
            #expect(try await world.state("gold", of: "ada", in: "game") == nil)
        }
        #expect(try await world.state("coins", of: "grace", in: "game") ?? "0" == "0")
        #expect(try await world.claim(late, "coins", by: "ada", as: "open").status == 200, "mode both grants at once")
        let order = try await world.send(.get, "/v1/apple-orders/\(gold.order)", as: "game")
        #expect(order.status == 200 || order.status == 503, "\(order)")
        let refreshed = try await world.send(.get, "/v1/customers/ada/subscriptions?refresh=true", as: "open")
        #expect(refreshed.status == 200 && (row.isTrue || !refreshed.body.contains("\"answered\"")), "\(refreshed)")
        let extended = try await world.send(
            .post, "/v1/subscriptions/\(old.id)/extensions",
            [
                "days": 7, "extension_reason": "service_issue", "reason": "an outage",
                "request_id": "e1",
            ], as: "open")
        #expect(extended.status == 201, "\(extended)")
        // What the server does by itself is tried more than once.
        for _ in 0..<3 {
            try await world.advance(seconds: 60)
            try await Task.sleep(for: .milliseconds(100))
        }
        if row.isCounted {
            var asked: Set<String> = []
            for attempt in 1...600 where !asked.isSuperset(of: ["transaction", "notification-history"]) {
                try await Task.sleep(for: .milliseconds(50))
                // The circuit breaker opens during the fault, and its time does not pass by itself. A backfill that was
                // under way when the clock moved two hours is due an hour later.
                world.connectionClock.advance(.seconds(60))
                if attempt.isMultiple(of: 20) { try await world.advance(seconds: 300) }
                let left = try await world.store.call("faults", .get)["server_api"] as? [[String: Any]] ?? []
                asked = Set(left.filter { $0["count"] as? Int != 100_000 }.compactMap { $0["operation"] as? String })
            }
            #expect(asked.isSuperset(of: ["transaction", "notification-history"]), "\(asked)")
        }
        if !row.isTrue {
            #expect(try await world.state("gold", of: "ada", in: "game") == nil)
            #expect(try await world.events("claim_decided", in: "game") == 0, "nothing was finished")
        }
    }

    /// What is true when the fault is over, after some time.
    private static func afterwards(
        _ row: Row, _ world: AskingWorld, _ gold: AskingWorld.Bought, _ spoiled: AskingWorld.Bought,
        _ late: AskingWorld.Bought, _ old: AskingWorld.Bought, _ sold: AskingWorld.Bought
    ) async throws {
        try await world.pass("a claim still waits") { try await world.ledger.answer(CountWork(.claim)).count == 0 }
        #expect(try await world.state("gold", of: "ada", in: "game") == "active")
        #expect(try await world.state("coins", of: "grace", in: "game") ?? "0" == "0")
        let refused = try await world.claim(spoiled, "coins", by: "grace", as: "game")
        #expect(refused.code == "purchase_withdrawn", "\(refused)")
        // The refunded purchase has its first owner, too, and is revoked.
        let granted = try await world.ledger.answer(EventList(app: "game", limit: 1000))
            .filter { $0.type == "granted" }.compactMap { $0.content.transactionID }
        #expect(granted.count { $0 == gold.id } == 1 && granted.count <= 2, "\(granted)")
        #expect(try await world.events("not_confirmed", in: "open") == 0)
        try await world.pass("the renewal is missing") {
            try await world.state("gold", of: "ada", in: "open") == "active"
        }
        try await world.pass("the token of a purchase is not set") {
            let told = try await world.store.call("transactions/\(late.id)", .get)["transaction"] as? [String: Any]
            return told?["app_account_token"] is String
        }
        try await world.pass("the refund request is not answered") {
            try await world.ledger.answer(RefundRequestList(app: "open", limit: 10)).entries
                .allSatisfy { $0.message.state == "sent" }
        }
        let consumption = try await world.store.call("consumption", .get)
        #expect(consumption.keys.contains(sold.id))
        let order = try await world.send(.get, "/v1/apple-orders/\(gold.order)", as: "game")
        #expect(order.status == 200 && order.body.contains(gold.id), "\(order)")
        let refreshed = try await world.send(.get, "/v1/customers/ada/subscriptions?refresh=true", as: "open")
        #expect(refreshed.body.contains("\"answered\""), "\(refreshed)")
        let extensions = try await world.send(.get, "/v1/subscriptions/\(old.id)/extensions", as: "open")
        #expect(!extensions.body.contains("\"refused\""), "\(extensions)")
        #expect(row.isCarriedOut || !extensions.body.contains("\"unanswered\""), "\(extensions)")
        // An old list of notifications looks like a true one: what it left out is found when two days are read again.
        if row.body["kind"] as? String == "stale" { try await world.advance(seconds: 86_400) }
        try await world.pass("notifications are missing") { try await world.sent().isSubset(of: world.received()) }
    }
}
