import Foundation
import PurchaseLedger
import PurchaseVerification
import Testing

/// A ledger in a folder with its keys, whose journal is sealed into the Merkle log.
struct SealedWorld: Sendable {
    let folder: URL
    let database: SQLiteDatabase
    let world: LedgerWorld
    let entryKey: EntryKey
    let signer: CheckpointSigner
    let sealing: LogSealing

    /// Opens the folder, with new keys and a new database if there are none.
    init(_ folder: URL, clock: TestClock = TestClock(), signer given: CheckpointSigner? = nil) async throws {
        self.folder = folder
        entryKey = try EntryKey.openOrCreate(at: Self.path("entries.key", folder))
        let signingKey = Self.path("log.key", folder)
        if !FileManager.default.fileExists(atPath: signingKey) {
            try CheckpointSigner.createKey(at: signingKey, origin: "example.com/assay")
        }
        signer = try given ?? CheckpointSigner(keyFile: signingKey)
        database = try SQLiteDatabase(path: Self.path("assay.sqlite", folder))
        world = try await LedgerWorld(database, clock: clock, entryKey: entryKey)
        sealing = try LogSealing(
            ledger: world.ledger, signer: signer,
            publishers: [CheckpointFile(path: Self.path("checkpoint", folder))])
    }

    static func with(_ body: (SealedWorld) async throws -> Void) async throws {
        try await TemporaryFolder.with { folder in
            let world = try await SealedWorld(folder)
            try await body(world)
            try await world.database.close()
        }
    }

    static func path(_ name: String, _ folder: URL) -> String { folder.appending(path: name).path }

    func path(_ name: String) -> String { Self.path(name, folder) }

    /// A copy of all files in their current state, which is the state after a crash.
    func crashed(into parent: URL) throws -> URL {
        let copy = parent.appending(path: UUID().uuidString)
        try FileManager.default.copyItem(at: folder, to: copy)
        return copy
    }

    func published() throws -> SignedCheckpoint {
        let note = try Data(contentsOf: URL(fileURLWithPath: path("checkpoint")))
        return try SignedCheckpoint(note: [UInt8](note), keys: [signer.verifier])
    }

    /// Writes journal entries: each order is one.
    func write(_ count: Int) async throws {
        for _ in 0..<count { _ = try await world.order() }
    }

    func number(_ sql: String) async throws -> Int64 {
        try await database.read(.lists) { connection in
            guard case .integer(let number)? = try connection.rows(sql, []).first?.values.first else { return -1 }
            return number
        }
    }

    /// Counts the entries that are not examined yet.
    static let pending = "SELECT count(*) FROM journal WHERE entry_key > (SELECT sealed_up_to FROM log_state)"

    /// Changes the database as an attacker with write access would.
    func tamper(_ statements: [String]) async throws {
        try await database.write { connection in
            for table in ["journal", "log_entries", "log_tiles"] {
                for rule in ["no_update", "no_delete", "no_replace"] {
                    try connection.execute("DROP TRIGGER IF EXISTS \(table)_\(rule)", [])
                }
            }
            for sql in statements { try connection.execute(sql, []) }
        }
    }

    func audit(_ checkpoints: [Checkpoint] = []) async throws -> [LogFinding.Kind] {
        try await world.ledger.auditLog(checkpoints).findings.map(\.kind)
    }
}
