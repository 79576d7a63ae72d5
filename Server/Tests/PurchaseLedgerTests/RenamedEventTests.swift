import Foundation
import TestSupport
import Testing

@testable import PurchaseLedger

/// The events of operators' acts, which the first schema stored under other names.
@Suite("Renamed events")
struct RenamedEventTests {
    @Test("E.3 A migration gives the events of operators' acts the names of their journal entries")
    func names() async throws {
        try await TemporaryFolder.with { folder in
            let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
            let dialect = database.dialect
            let types = try await database.write { connection in
                try SchemaVersion1.migration.run(connection, dialect)
                for type in ["hand_granted", "granted", "hand_revoked", "hand_lifted"] {
                    try connection.execute(
                        "INSERT INTO events (app_key, entry_key, type, figures) VALUES (1, 1, ?1, ?2)",
                        [.text(type), .blob([])])
                }
                try SchemaVersion2.migration.run(connection, dialect)
                return try connection.rows("SELECT type FROM events ORDER BY event_key").flatMap(\.values)
            }
            let names = [EventType.grantAdded, .granted, .revocationAdded, .actLifted].map(\.rawValue)
            #expect(types == names.map { .text($0) })
            #expect(names == ["grant_added", "granted", "revocation_added", "act_lifted"])
            let kinds = [JournalKind.grantAdded, .revocationAdded, .actLifted]
            #expect(kinds.map(\.rawValue) == [12, 13, 14])
            #expect(kinds.map(\.name) == names.filter { $0 != "granted" })
            try await database.close()
        }
    }
}
