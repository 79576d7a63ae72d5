import Foundation
import PurchaseLedger
import Testing

@Suite("Numbers of rows that an audit names", .tags(.everyEngine))
struct RowNumberTests {
    @Test("A.6 A changed settings_key and a changed entry_key of an account token are named")
    func numbers() async throws {
        try await LedgerWorld.with { world in
            _ = try await world.ledger.perform(
                AssignToken(app: "example", customerID: LedgerWorld.customer, token: UUID()))
            for (change, back) in [
                (
                    "UPDATE settings_history SET settings_key = settings_key + 1000",
                    "UPDATE settings_history SET settings_key = settings_key - 1000"
                ),
                (
                    "UPDATE account_tokens SET entry_key = entry_key - 1",
                    "UPDATE account_tokens SET entry_key = entry_key + 1"
                ),
            ] {
                try await world.database.write { _ = try $0.execute(change, []) }
                for isVerifyingEvidence in [false, true] {
                    let findings = try await world.ledger.audit(isVerifyingEvidence: isVerifyingEvidence).findings
                    #expect(findings.map(\.kind) == [.rowDiffers], "\(change): \(findings)")
                }
                try await world.database.write { _ = try $0.execute(back, []) }
            }
        }
    }

    @Test("A.6 Recorded settings are numbered without gaps, also by several starts")
    func settings() async throws {
        try await LedgerWorld.with { world in
            var app = LedgerWorld.app()
            for days in 1...3 {
                app.products[LedgerWorld.pass] = RegisteredProduct(
                    kind: .nonRenewing, duration: PassDuration("\(days)d"))
                _ = try await world.restarted([app])
            }
            let numbers = try await world.database.read(.lists) { connection in
                try connection.rows("SELECT settings_key FROM settings_history ORDER BY settings_key", []).map(\.values)
            }
            #expect(numbers == (1...4).map { [.integer($0)] })
            // The tables of the ledger are compared under its last settings.
            _ = try await world.restarted([LedgerWorld.app()])
        }
    }
}
