import ArgumentParser
import LegacyLedger

/// `assay migrate`: brings the database up to date, as the server does when it starts.
struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Brings the database's tables up to date, and makes the database where there is none.")

    @OptionGroup var options: LedgerDatabaseOptions

    func run() async throws {
        try await options.withDatabase(migrating: false, creating: true) { database in
            let steps = try await LedgerMigrations.migrate(database, now: .now)
            for step in steps { Terminal.write("assay: ran migration \(step.number): \(step.title)\n") }
            if steps.isEmpty { Terminal.write("assay: the database is up to date\n") }
        }
    }
}
