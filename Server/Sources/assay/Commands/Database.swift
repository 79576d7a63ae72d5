import ArgumentParser
import PurchaseLedger

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
        try await options.withDatabase(migrating: false, creating: true) { database in
            let steps = try await LedgerMigrations.migrate(database, now: .now)
            for step in steps { Terminal.write("assay: ran migration \(step.number): \(step.title)\n") }
            if steps.isEmpty { Terminal.write("assay: the database is up to date\n") }
        }
    }
}
