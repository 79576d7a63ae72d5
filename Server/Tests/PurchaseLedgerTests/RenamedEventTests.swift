import Foundation
import PurchaseLedger
import TestSupport
import Testing

/// The events of operators' acts, which the first schema stored under other names.
@Suite("Renamed events")
struct RenamedEventTests {
    @Test(
        "E.3 A migration gives the events of operators' acts the names of their journal entries",
        .enabled(if: TestEngine.ownsTables))
    func names() async throws {
        let names = [EventType.grantAdded, .granted, .revocationAdded, .actLifted].map(\.rawValue)
        #expect(names == ["grant_added", "granted", "revocation_added", "act_lifted"])
        let kinds = [JournalKind.grantAdded, .revocationAdded, .actLifted]
        #expect(kinds.map(\.rawValue) == [12, 13, 14])
        #expect(kinds.map(\.name) == names.filter { $0 != "granted" })
        try await TestEngine.withDatabases { database in
            try await LedgerMigrations.migrate(database, now: 0, upTo: 1)
            let count = try await database.write { connection in
                for type in ["hand_granted", "granted", "hand_revoked", "hand_lifted"] {
                    _ = try connection.execute(
                        "INSERT INTO events (app_key, entry_key, type, figures) VALUES (1, 1, ?1, ?2)",
                        [.text(type), .blob([])])
                }
                return try connection.rows("SELECT type FROM events", []).count
            }
            #expect(count == 4)
            try await LedgerMigrations.migrate(database, now: 0)
            let types = try await database.read(.lists) { connection in
                try connection.rows("SELECT type FROM events ORDER BY event_key", []).flatMap(\.values)
            }
            #expect(types == names.map { .text($0) })
        }
    }
}
