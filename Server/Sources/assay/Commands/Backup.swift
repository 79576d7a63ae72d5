import ArgumentParser
import PurchaseLedger

/// `assay backup`: a copy of the database while the server runs.
struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copies a live SQLite database whole.",
        discussion: """
            The copy is one committed state, readable for its owner only, and verified before it gets its name. The server goes \
            on meanwhile. Keys of the record (log and entries) are files of their own and must be kept apart from the copy.

            Exit status: 0 if there is a copy, 2 for wrong usage or I/O.
            """)

    @OptionGroup var options: LedgerDatabaseOptions

    @Argument(help: "The new file; an existing one is never overwritten.")
    var file: String

    func run() async throws {
        let database = try options.place().existingFile()
        var bar = ProgressBar(unit: "MB copied")
        do {
            let bytes = try SQLiteBackup(of: database, to: LedgerDatabaseOptions.absolute(file)).write { progress in
                let megabytes = progress.copiedBytes / 1_000_000
                bar.show(
                    done: megabytes, share: Double(progress.copiedBytes) / Double(max(1, progress.totalBytes)),
                    note: progress.isVerifying ? ", verifying" : "")
            }
            bar.clear()
            Terminal.write("assay: copied \(bytes) bytes to \(file)\n")
        } catch let failure as SQLiteBackup.Failure {
            bar.clear()
            Terminal.complain("\(failure.code): \(failure.description)")
            throw ExitCode.unusable
        } catch let error as LedgerStorageError {
            bar.clear()
            Terminal.complain("\(error)")
            throw ExitCode.unusable
        }
    }
}
