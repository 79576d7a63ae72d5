import ArgumentParser
import PurchaseLedger

/// `assay migrate`: updates the schema of the database, as the server does when it starts.
struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Updates the schema of the database, and creates the database if there is none.",
        discussion: """
            'assay serve' does the same when it starts. It only adds: servers of the release before go on writing, and can \
            be started again. When none of them runs any more, '--contract' removes what only they used, and begins with \
            the rules of this release; from then on, the way back is a backup. The next release does the same when it \
            starts.

            A database of a newer version is refused, and so is one of a version before the first release; nothing in it is \
            changed.
            """)

    @Flag(help: "Ends the migration: servers of the release before can no longer write.")
    var contract = false

    @OptionGroup var options: LedgerDatabaseOptions

    func run() async throws {
        try await options.withDatabase(migrating: false, creating: true) { database in
            let steps = try await LedgerMigrations.migrate(database, now: .now)
            for step in steps { Terminal.write("assay: ran migration \(step.number): \(step.title)\n") }
            guard !contract else { return }
            let waiting = try await SchemaState(of: database).expansions.map(String.init)
            if !waiting.isEmpty {
                Terminal.write(
                    "assay: servers of the release before can still write; when none runs any more, end migration "
                        + "\(waiting.joined(separator: ", ")) with 'assay migrate --contract'\n")
            } else if steps.isEmpty {
                Terminal.write("assay: the database is up to date\n")
            }
        }
        if contract { try await options.withLedger { try await Self.begin($0) } }
    }

    private static func begin(_ ledger: PurchaseLedger) async throws {
        let beginning = try await ledger.beginRelease()
        for number in beginning.migrations {
            Terminal.write("assay: ended migration \(number): servers of the release before no longer write\n")
        }
        if let rules = beginning.rules { Terminal.write("assay: version \(rules) of the rules begins\n") }
        if beginning.migrations.isEmpty, beginning.rules == nil {
            Terminal.write("assay: nothing to end: the database is up to date\n")
        }
    }
}
