import Foundation
import PurchaseLedger
import TestSupport
import Testing

/// The end of an SQLite database that is in use.
@Suite("SQLite, closed while it is used")
struct SQLiteCloseTests {
    @Test(
        "Reads during the close are answered or refused, and none gets a closed connection; a second close does nothing"
    )
    func readsDuringClose() async throws {
        for _ in 0..<20 {
            try await TemporaryFolder.with { folder in
                let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
                try await withThrowingTaskGroup(of: LedgerStorageError.Kind?.self) { group in
                    for number in 0..<48 {
                        let access = [LedgerReadAccess.keys, .statement, .lists][number % 3]
                        group.addTask {
                            do {
                                while true {
                                    _ = try await database.read(access) { connection in
                                        try connection.rows("SELECT name FROM sqlite_master", [])
                                    }
                                }
                            } catch let error as LedgerStorageError {
                                return error.kind
                            }
                        }
                    }
                    try await Task.sleep(for: .milliseconds(20))
                    try await database.close()
                    try await database.close()
                    for try await kind in group { #expect(kind == .closed) }
                }
            }
        }
    }
}
