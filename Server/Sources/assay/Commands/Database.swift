import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseServer
import TextFormats

/// `assay database`: the database of the ledger as a whole.
struct Database: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Updates, backs up, copies and rebuilds the database of the ledger.",
        subcommands: [Migrate.self, Backup.self, Copy.self, Rebuild.self])
}

/// `assay database migrate`: updates the schema of the database, as the server does when it starts.
struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Updates the schema of the database, and creates the database if there is none.",
        discussion: """
            'assay serve' does the same when it starts. The way back to an older version is a backup.

            A database of a newer version is refused, and so is one of a version before the first release; nothing in it is \
            changed.
            """)

    @OptionGroup var options: LedgerDatabaseOptions

    func run() async throws {
        try await options.withDatabase(creating: true) { database in
            let steps = try await LedgerMigrations.migrate(database, now: .now)
            for step in steps { Terminal.write("assay: ran migration \(step.number): \(step.title)\n") }
            if steps.isEmpty { Terminal.write("assay: the database is up to date\n") }
        }
    }
}

/// `assay database backup`: a copy of the database while the server runs.
struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copies a live database to a SQLite file.",
        discussion: """
            The copy is one committed state, readable for its owner only, and verified before it gets its name. The server keeps \
            running meanwhile. A PostgreSQL database is also copied to a SQLite file: a server can use the file directly, and \
            'assay database copy' copies it to an empty PostgreSQL database. Keys of the record (log and entries) are in separate files \
            and must be kept apart from the copy.

            With --verify the copy is also audited, as by 'assay audit verify': its log is compared with the last checkpoint that \
            this server signed before the copy was begun, its journal with the hashes, and its tables with the journal. A copy \
            with findings is kept.

            Exit status: 0 if there is a copy, 1 if the audit has findings, 2 for wrong usage or I/O.
            """)

    @OptionGroup var options: LedgerDatabaseOptions
    @OptionGroup var signing: SigningKeyOption
    @Flag(help: "Audit the copy.") var verify = false
    @Argument(help: "The new file; an existing one is never overwritten.") var file: String

    func run() async throws {
        let keys = verify ? try signing.keys(options) : nil
        // Read first: a server that runs meanwhile may sign more than the copy has.
        let checkpoint = try keys.flatMap { try lastCheckpoint($0) }
        try await copy()
        guard let keys else { return }
        var copied = options
        copied.database = "sqlite:\(LedgerDatabaseOptions.absolute(file))"
        do {
            try await copied.withLedger(.auditing) { ledger in
                try await VerifyAudit.verify(ledger, [checkpoint].compactMap(\.self), keys, evidence: false)
            }
        } catch {
            try removeLog()
            throw error
        }
        try removeLog()
    }

    /// Removes the empty write-ahead log that the audit left, with its index, so that the copy is one file.
    private func removeLog() throws {
        let (manager, path) = (FileManager.default, LedgerDatabaseOptions.absolute(file))
        guard manager.fileExists(atPath: path + "-wal"),
            try manager.attributesOfItem(atPath: path + "-wal")[.size] as? Int == 0
        else { return }
        for ending in ["-wal", "-shm"] { try manager.removeItem(atPath: path + ending) }
    }

    private func lastCheckpoint(_ keys: RecordKeys) throws -> Checkpoint? {
        do throws(LogError) {
            return try keys.lastSigned()?.checkpoint?.checkpoint
        } catch {
            guard error.code == .headsMissing else { throw error }
            // The copy is needed all the more.
            Terminal.complain("\(error)")
            return nil
        }
    }

    private func copy() async throws {
        let place = try options.place()
        let target = LedgerDatabaseOptions.absolute(file)
        guard place.file == nil else { return try copyFile(place, target) }
        let bar = CopyBar()
        try await options.withDatabase { database in
            defer { bar.clear() }
            let rows = try await LedgerBackup(of: database, to: target).write { bar.show($0) }
            bar.clear()
            Terminal.write("assay: copied \(counted(rows, "row")) to \(file)\n")
        }
    }

    private func copyFile(_ place: LedgerPlace, _ target: String) throws {
        guard let database = try place.usableFile() else { return }
        var bar = ProgressBar(unit: "MB copied")
        defer { bar.clear() }
        let bytes = try SQLiteBackup(of: database, to: target).write { progress in
            let megabytes = progress.copiedBytes / 1_000_000
            bar.show(
                done: megabytes, share: Double(progress.copiedBytes) / Double(max(1, progress.totalBytes)),
                note: progress.isVerifying ? "verifying" : "")
        }
        bar.clear()
        Terminal.write("assay: copied \(counted(bytes, "byte")) to \(file)\n")
    }
}
