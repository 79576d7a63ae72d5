import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// The numbers of two entries are exchanged, for every pair of kinds in a journal with all kinds.
@Suite("A.1 Exchanged numbers of entries")
struct SwappedEntriesTests {
    /// Two entries, by their numbers, and their kinds.
    private struct Pair: Hashable {
        let kinds: String
        let left: Int64
        let right: Int64
    }

    @Test("A.1 Of two exchanged sealed entries the audit names each pair", .enabled(if: TestEngine.ownsTables))
    func sealed() async throws {
        try await OrderedWorld.with({ $0.sandboxAccess = .everyone }) { ordered in
            try await ExampleJournal.write(ordered, isErasing: true)
            try await ordered.sealing.round()
            #expect(try await ordered.findings() == [])
            let pairs = try await pairs(ordered)
            #expect(pairs.count >= 120)
            let first = pairs.filter { $0.kinds == "rules claim" }
            for pair in FuzzedRows.wanted == "all" ? pairs : first + pairs.shuffled().prefix(10) {
                try await ordered.swap(pair.left, pair.right)
                let report = try await ordered.world.ledger.audit(isVerifyingEvidence: false)
                #expect(report.findings.contains { $0.kind == .orderDiffers }, "\(pair.kinds)")
                try await ordered.swap(pair.left, pair.right)
            }
            #expect(try await ordered.findings() == [])
        }
    }

    @Test("A.1 Of two exchanged pending entries, the audit names each that cannot come first, whatever the tables say")
    func pending() async throws {
        // The replay is the same for both engines.
        try await OrderedWorld.withEngine(.sqlite, [ExampleJournal.app]) { ordered in
            try await ExampleJournal.write(ordered, isErasing: false)
            #expect(try await ordered.world.ledger.audit().findings == [])
            var found: [String: Set<String>] = [:]
            for pair in try await pairs(ordered) where Self.impossible[pair.kinds] != nil {
                try await ordered.swapEverywhere(pair.left, pair.right)
                let kinds = try await ordered.world.ledger.audit().findings.map(\.kind).filter { !$0.isMendedByRebuild }
                found[pair.kinds, default: []].formUnion(kinds.map(\.rawValue))
                try await ordered.swapEverywhere(pair.left, pair.right)
            }
            for (kinds, finding) in Self.impossible {
                #expect(found[kinds]?.contains(finding) == true, "\(kinds): \(found[kinds] ?? [])")
            }
        }
    }

    /// The pairs of kinds that cannot be in the other order, with the finding.
    private static let impossible = [
        "key_created key_revoked": "entry_impossible",
        "testers_changed testers_changed": "entry_impossible",
        "grant_added revocation_added": "entry_impossible",
        "grant_added act_lifted": "entry_impossible",
        "revocation_added act_lifted": "entry_impossible",
        "order_created order_cancelled": "entry_impossible",
        "order_created order_fulfilled": "entry_impossible",
        "claim claim": "entry_impossible",
        "claim app_store_answer": "entry_impossible",
        "claim decision": "entry_impossible",
        "app_store_answer decision": "entry_impossible",
        "claim customer_merged": "entry_impossible",
        "claim consumed": "audit_incomplete",
    ]

    /// For each two kinds, the nearest pair of the same customer and the nearest pair of all.
    private func pairs(_ ordered: OrderedWorld) async throws -> [Pair] {
        let entries = try await ordered.database.read(.lists) { connection in
            try connection.rows("SELECT entry_key, leaf FROM journal ORDER BY entry_key", []).compactMap { row in
                guard case .integer(let key) = row.values[0], case .blob(let bytes) = row.values[1] else {
                    return nil as (Int64, JournalLeaf)?
                }
                return JournalLeaf(bytes: bytes).map { (key, $0) }
            }
        }
        var nearest: [String: (distance: Int64, pair: Pair)] = [:]
        for (index, (left, first)) in entries.enumerated() {
            for (right, second) in entries.dropFirst(index + 1) {
                let kinds = "\(first.kind.name) \(second.kind.name)"
                let pair = Pair(kinds: kinds, left: left, right: right)
                let isRelated =
                    first.customer != nil && first.customer == second.customer
                    || first.evidence != nil && first.evidence == second.evidence
                for name in isRelated ? [kinds, "\(kinds) related"] : [kinds] {
                    if let known = nearest[name], known.distance <= right - left { continue }
                    nearest[name] = (right - left, pair)
                }
            }
        }
        return Set(nearest.values.map(\.pair)).sorted { ($0.left, $0.right) < ($1.left, $1.right) }
    }
}

/// A journal with every kind of entry that a server or an operator writes.
private enum ExampleJournal {
    /// The histories consume what was bought in the sandbox.
    static var app: RegisteredApp {
        var app = LedgerWorld.app()
        app.sandboxAccess = .everyone
        return app
    }

    static func write(_ ordered: OrderedWorld, isErasing: Bool) async throws {
        let (world, ledger) = (ordered.world, ordered.world.ledger)
        _ = try await ledger.perform(CreateAPIKey(app: "example", name: "app", scopes: [.client]))
        let key = try await ledger.perform(CreateAPIKey(app: "example", name: "old", scopes: [.admin]))
        _ = try await ledger.perform(RevokeAPIKey(id: key.key.id))
        for isTester in [true, false] {
            _ = try await ledger.perform(ChangeTester(app: "example", customerID: "dora", isTester: isTester))
        }
        let order = try await world.order("alice")
        _ = try await world.claim("1", order: order.id, try LedgerWorld.signed("1"))
        _ = try await ledger.perform(FulfilOrder(app: "example", orderID: order.id))
        let cancelled = try await world.order("bob", product: LedgerWorld.pro)
        _ = try await ledger.perform(CancelOrder(app: "example", orderID: cancelled.id))
        let closed = try await world.order("alice", quantity: 3)
        let paid = try LedgerWorld.signed("5") { $0.quantity = 3 }
        _ = try await world.claim("5", order: closed.id, paid)
        _ = try await ledger.perform(FulfilOrder(app: "example", orderID: closed.id, units: 1))
        _ = try await ledger.perform(CloseOrder(app: "example", orderID: closed.id, reason: "used in the app"))
        let junk: [[UInt8]] = [[1, 2, 3], [4, 5, 6]]
        _ = try await ledger.restore(
            RestoreSubmission(
                app: "example", customerID: "alice", evidence: [try LedgerWorld.signed("1")] + junk))
        let row = ledger.examine(
            ImportSubmission(customerID: "ida", evidence: [try LedgerWorld.signed("6")]), app: "example")
        _ = try await ledger.perform(ImportPurchases(app: "example", isAnnounced: true, consumables: .balance, [row]))
        let receipt = try LedgerWorld.receipt([
            .consumable(productID: LedgerWorld.coins, transactionID: "2", purchaseDate: MintedWorld.moment, quantity: 3)
        ])
        _ = try await world.claim("2", customer: "alice", receipt)
        _ = try await world.claim("2", customer: "mallory", receipt)
        _ = try await world.consume(2, "sword", environment: .sandbox)
        _ = try await ledger.perform(
            MovePurchase(app: "example", transactionID: "2", to: "carol", reason: "wrong account"))
        try await world.observe(try LedgerWorld.period("901", from: 0))
        _ = try await ledger.perform(AssignToken(app: "example", customerID: "carol", token: UUID()))
        _ = try await world.claim("3", customer: "anonymous", try LedgerWorld.signed("3"))
        try await ledger.perform(MergeCustomers(app: "example", customerID: "anonymous", into: "bob"))
        let grant = try await ledger.perform(
            GrantByHand(app: "example", customerID: "bob", productID: LedgerWorld.coins, quantity: 4, reason: "gift"))
        let revocation = try await ledger.perform(
            RevokeByHand(app: "example", customerID: "bob", .grant(grant), reason: "abuse"))
        try await ledger.perform(LiftByHand(app: "example", customerID: "bob", id: revocation))
        try await ledger.perform(LiftByHand(app: "example", customerID: "bob", id: grant))
        var app = ExampleJournal.app
        app.mode = .apple
        let apple = try await world.restarted([app], entryKey: ordered.entryKey)
        let waiting = try await apple.claim("21", customer: "erin", try LedgerWorld.coinReceipt(21))
        try await apple.answer(waiting.submissionID, LedgerWorld.agreement())
        _ = try await world.restarted([ExampleJournal.app], entryKey: ordered.entryKey)
        guard isErasing else { return }
        _ = try await world.claim("4", customer: "leo", try LedgerWorld.signed("4"))
        _ = try await ledger.perform(EraseCustomer(app: "example", customerID: "leo", reason: "asked for it"))
        _ = try await world.order("frank")
    }
}
