import EvidenceMint
import Foundation
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("The settings require_signed_transaction and require_account_token")
struct AccountTokenSettingTests {
    private func receipt() throws -> [UInt8] {
        try LedgerWorld.receipt([
            .consumable(productID: LedgerWorld.coins, transactionID: "1", purchaseDate: MintedWorld.moment)
        ])
    }

    private func signed(_ token: UUID? = nil) throws -> [UInt8] {
        try LedgerWorld.signed("1") { $0.appAccountToken = token?.uuidString.lowercased() }
    }

    @Test("C.10 With require_signed_transaction, a receipt claims nothing new, and a signed transaction needs no token")
    func signedTransaction() async throws {
        try await LedgerWorld.with({ $0.requiresSignedTransaction = true }) { world in
            let refused = try await world.claim("1", try receipt())
            #expect(refused.code == "signed_transaction_needed" && refused.disposition == .retry)
            let restored = try await world.ledger.restore(
                RestoreSubmission(app: "example", customerID: "alice", evidence: [try receipt()]))
            #expect(restored.purchases.map(\.code) == ["signed_transaction_needed"])
            #expect(try await world.claim("1", try signed()).code == "accepted")
            #expect(try await world.entitlement()?.balance == 1)
        }
    }

    @Test("C.10 With require_account_token, a claim needs a token of the customer; one that is unknown counts as none")
    func accountToken() async throws {
        try await LedgerWorld.with({ $0.requiresAccountToken = true }) { world in
            let token = UUID()
            for evidence in [try receipt(), try signed(), try signed(token)] {
                let refused = try await world.claim("1", evidence)
                #expect(refused.code == "account_token_needed" && refused.disposition == .retry)
                let restored = try await world.ledger.restore(
                    RestoreSubmission(app: "example", customerID: "alice", evidence: [evidence]))
                #expect(restored.purchases.map(\.code) == ["account_token_needed"])
            }
            #expect(try await world.entitlement() == nil)
            // Once the token is assigned, the same evidence is enough.
            _ = try await world.ledger.perform(AssignToken(app: "example", customerID: "alice", token: token))
            #expect(try await world.claim("1", try signed(token)).code == "accepted")
            #expect(try await world.entitlement()?.balance == 1)
            let other = try await world.claim("1", customer: "bob", try signed(token))
            #expect(other.code == "app_account_token_mismatch")
        }
    }

    @Test(
        "C.10 With require_account_token, a claim without a token transfers nothing, and the owner's own one is accepted"
    )
    func owners() async throws {
        try await LedgerWorld.with({ ($0.requiresAccountToken, $0.transfer) = (true, .move) }) { world in
            let token = UUID()
            func pro(_ token: UUID?) throws -> [UInt8] {
                try LedgerWorld.signed("1", product: LedgerWorld.pro, kind: .nonConsumable) {
                    $0.appAccountToken = token?.uuidString.lowercased()
                }
            }
            _ = try await world.ledger.perform(AssignToken(app: "example", customerID: "alice", token: token))
            #expect(try await world.claim("1", product: LedgerWorld.pro, try pro(token)).code == "accepted")
            #expect(try await world.claim("1", product: LedgerWorld.pro, try pro(nil)).code == "accepted")
            _ = try await world.claim("1", product: LedgerWorld.pro, customer: "bob", try pro(nil))
            #expect(try await world.entitlement(LedgerWorld.pro)?.state == .active)
            #expect(try await world.entitlement(LedgerWorld.pro, of: "bob")?.state != .active)
        }
    }

    @Test("C.10 Both settings are recorded, each under its own name")
    func recorded() async throws {
        for (isSigned, isToken) in [(false, false), (false, true), (true, false), (true, true)] {
            try await TemporaryFolder.with { folder in
                let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
                var app = LedgerWorld.app()
                (app.requiresSignedTransaction, app.requiresAccountToken) = (isSigned, isToken)
                let world = try await LedgerWorld(database, apps: [app])
                let recorded = try await PurchaseLedger.openRecorded(
                    database: database, verifier: try LedgerWorld.verifier(), clock: { world.clock.now })
                #expect(recorded.settings(of: "example") == app)
                try await database.close()
            }
        }
    }
}
