import ArgumentParser
import PurchaseLedger

/// `assay backup`: a copy of the database while the server runs.
struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copies a live database to a SQLite file.",
        discussion: """
            The copy is one committed state, readable for its owner only, and verified before it gets its name. The server keeps \
            running meanwhile. A PostgreSQL database is also copied to a SQLite file: a server can use the file directly, and \
            'assay copy' copies it to an empty PostgreSQL database. Keys of the record (log and entries) are in separate files \
            and must be kept apart from the copy.

            Exit status: 0 if there is a copy, 2 for wrong usage or I/O.
            """)

    @OptionGroup var options: LedgerDatabaseOptions

    @Argument(help: "The new file; an existing one is never overwritten.")
    var file: String

    func run() async throws {
        do {
            let place = try options.place()
            let target = LedgerDatabaseOptions.absolute(file)
            guard LedgerDatabases.isPostgreSQL(try place.url()) else { return try copyFile(place, target) }
            let bar = CopyBar()
            try await options.withDatabase(migrating: false) { database in
                defer { bar.clear() }
                let rows = try await LedgerBackup(of: database, to: target).write { bar.show($0) }
                bar.clear()
                Terminal.write("assay: copied \(rows) rows to \(file)\n")
            }
        } catch let failure as SQLiteBackup.Failure {
            Terminal.complain("\(failure.code): \(failure.description)")
            throw ExitCode.unusable
        } catch let error as LedgerStorageError {
            Terminal.complain("\(error)")
            throw ExitCode.unusable
        }
    }

    private func copyFile(_ place: LedgerPlace, _ target: String) throws {
        let database = try place.existingFile()
        var bar = ProgressBar(unit: "MB copied")
        defer { bar.clear() }
        let bytes = try SQLiteBackup(of: database, to: target).write { progress in
            let megabytes = progress.copiedBytes / 1_000_000
            bar.show(
                done: megabytes, share: Double(progress.copiedBytes) / Double(max(1, progress.totalBytes)),
                note: progress.isVerifying ? "verifying" : "")
        }
        bar.clear()
        Terminal.write("assay: copied \(bytes) bytes to \(file)\n")
    }
}
