import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

/// Entries of claims that somebody with write access changed, with every hash computed again. Nothing is sealed, so
/// only the decisions tell.
@Suite("A.4 Forged decisions")
struct ForgedDecisionTests {
    /// Writes genuine entries, changes one, and audits.
    ///
    /// - Returns: what the decision gives in place of what was recorded.
    private func decided(
        of kind: JournalKind = .claim, entry index: Int = 0, code: String? = nil,
        edits: [(from: String, to: String)] = [], settings change: (inout RegisteredApp) -> Void = { _ in },
        _ write: (LedgerWorld) async throws -> Void
    ) async throws -> [String] {
        var app = LedgerWorld.app()
        change(&app)
        var decided: [String] = []
        // The replay is the same for both engines.
        try await OrderedWorld.withEngine(.sqlite, [app]) { ordered in
            try await write(ordered.world)
            #expect(try await ordered.world.ledger.audit().findings == [])
            let key = try await ordered.entries(kind)[index]
            try await ordered.tamper { connection in
                let row = try connection.rows("SELECT details FROM journal WHERE entry_key = ?1", [.integer(key)])[0]
                guard case .blob(let stored) = row.values[0], let json = JSONShorthand.expanded(stored) else { return }
                var details = String(decoding: json, as: UTF8.self)
                for edit in edits {
                    #expect(details.contains(edit.from), "\(details)")
                    details = details.replacing(edit.from, with: edit.to)
                }
                try connection.execute(
                    "UPDATE journal SET details = ?2, code = coalesce(?3, code) WHERE entry_key = ?1",
                    [
                        .integer(key), .blob(JSONShorthand.shortened(Array(details.utf8))),
                        code.map { .text($0) } ?? .null,
                    ])
                try ForgedHashes.computeAgain(connection)
            }
            decided = try await ordered.world.ledger.audit().findings.filter { $0.kind == .decisionDiffers }
                .compactMap { $0.detail.split(separator: "before it: ").last.map(String.init) }
        }
        return decided
    }

    private static let code = (from: #""code":"accepted""#, to: #""code":"already_claimed""#)

    private func row(
        _ customer: String, _ evidence: [UInt8], order: UUID? = nil, _ world: LedgerWorld
    ) async throws {
        let row = ImportSubmission(customerID: customer, evidence: [evidence], orderID: order?.uuidString.lowercased())
        _ = try await world.ledger.perform(
            ImportPurchases(
                app: "example", isAnnounced: true, consumables: .balance, [world.ledger.examine(row, app: "example")]))
    }

    @Test("A.4 A changed code of a claim is a finding: a refusal that was a grant, and a grant that was a refusal")
    func codes() async throws {
        let refused = try await decided(code: "already_claimed", edits: [Self.code]) { world in
            _ = try await world.claim("1", try LedgerWorld.signed("1"))
        }
        #expect(refused == ["accepted"])
        let granted = try await decided(entry: 1, code: "accepted", edits: [(Self.code.to, Self.code.from)]) { world in
            for customer in ["alice", "bob"] {
                _ = try await world.claim("1", customer: customer, try LedgerWorld.signed("1"))
            }
        }
        #expect(granted == ["already_claimed"])
        let another = try await decided(code: "accepted") { world in
            let order = try await world.order("bob")
            _ = try await world.claim("1", order: order.id, try LedgerWorld.signed("1"))
        }
        #expect(another == ["order_of_another_customer"])
    }

    @Test("A.4 A claim that no longer binds, or no longer names its purchase, is a finding")
    func binding() async throws {
        for edit in [
            (from: #""binds":true"#, to: #""binds":false"#),
            (
                from: #""outcomes":[{"binds":true,"code":"accepted","environment":"Production","transactionID":""}]"#,
                to: #""outcomes":[]"#
            ),
        ] {
            let found = try await decided(edits: [edit]) { world in
                _ = try await world.claim("1", try LedgerWorld.signed("1"))
            }
            #expect(found.count == 1, "\(edit.to): \(found)")
        }
        let other = try await decided(edits: [(#""transactionID":"1""#, #""transactionID":"7""#)]) { world in
            try await world.restore(of: "bob", [try LedgerWorld.signed("1")])
        }
        #expect(other == ["7 is missing"])
    }

    @Test("A.4 An order that a claim or a row of an import did not pay, or no longer pays, is a finding")
    func orders() async throws {
        let id = UUID().uuidString.lowercased()
        for isImport in [false, true] {
            var paid = ""
            let unpaid = try await decided(edits: [
                (#""environment":"Production","order":""#, #""environment":"Production","found":""#)
            ]) { world in
                let order = try await world.order()
                paid = order.id.uuidString.lowercased()
                if isImport { return try await row("alice", try LedgerWorld.signed("1"), order: order.id, world) }
                _ = try await world.claim("1", order: order.id, try LedgerWorld.signed("1"))
            }
            #expect(unpaid == ["1 binds, and pays \(paid)"])
        }
        let invented = try await decided(edits: [
            (#""environment":"Production","#, #""environment":"Production","order":"\#(id)","#)
        ]) { world in
            _ = try await world.claim("1", try LedgerWorld.signed("1"))
        }
        #expect(invented == ["1 binds, and pays no order"])
        let refused = try await decided(code: "accepted") { world in
            let order = try await world.order(quantity: 2)
            try await row("alice", try LedgerWorld.signed("1"), order: order.id, world)
        }
        #expect(refused == ["quantity_mismatch"])
        let unknown = try await decided(edits: [(#""order":""#, #""order":"0"#)]) { world in
            let order = try await world.order()
            try await row("alice", try LedgerWorld.signed("2", product: LedgerWorld.pro), order: order.id, world)
        }
        #expect(unknown == ["there is none"])
    }

    @Test("A.4 A row of an import that no longer says which purchase refused it is a finding")
    func omitted() async throws {
        let receipt = try LedgerWorld.coinReceipt(1, 2)
        let outcome =
            #"{"binds":true,"code":"already_claimed","environment":"Sandbox","transactionID":"1"},"#
        let found = try await decided(
            entry: 1, code: "accepted", edits: [(outcome, "")], settings: { $0.sandboxAccess = .everyone }
        ) { world in
            _ = try await world.claim("1", receipt)
            try await row("bob", receipt, world)
        }
        #expect(found == ["already_claimed"])
    }

    @Test("A.4 A restore that waited and a decision after the App Store's answer cannot be changed")
    func waited() async throws {
        let receipt = try LedgerWorld.coinReceipt(1)
        let waiting = try await decided(
            code: "accepted",
            edits: [
                (#""appStore":"waits","#, ""),
                (
                    #""outcomes":[]"#,
                    #""outcomes":[{"binds":true,"code":"accepted","environment":"Sandbox","transactionID":"1"}]"#
                ),
            ], settings: { $0.mode = .apple }
        ) { world in
            try await world.restore(of: "bob", [receipt])
        }
        #expect(waiting == ["app_store_pending"])
        let decision = try await decided(
            of: .decision, code: "already_claimed", edits: [Self.code], settings: { $0.mode = .apple }
        ) { world in
            let claim = try await world.claim("1", receipt)
            _ = try await world.decision(claim.submissionID, LedgerWorld.agreement())
        }
        #expect(decision == ["accepted"])
    }
}
