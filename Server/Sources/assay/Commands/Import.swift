import AppStoreConnection
import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseVerification
import TextFormats

/// `assay import`: what an existing system and the App Store have, brought into the ledger or compared with it.
struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Brings the receipts of an existing system into the ledger, and what the App Store has.",
        discussion: "'assay import FILE' is 'assay import receipts FILE'.",
        subcommands: [ImportReceipts.self, Backfill.self, Compare.self], defaultSubcommand: ImportReceipts.self)
}

/// `assay import receipts`: brings the receipts of an existing system into the ledger.
struct ImportReceipts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receipts", abstract: "Brings the receipts of an existing system into the ledger.",
        discussion: """
            FILE is CSV with a header, NDJSON (one object a line), or a folder with one receipt in each file; '-' is standard \
            input. The columns are customer_id, receipt_data, signed_transaction, original_transaction_id, transaction_id, order_id \
            and imported_at; customer_id and one of the next four are needed. A row with only a transaction id is fetched from the \
            App Store, for which the app needs a key (app_store_keys in the settings file); the time that it takes is printed first. In a folder, the customer is the name of the file without its ending, or the name of the \
            folder inside that the file is in.

            All purchases of each receipt are claimed for the customer, including expired and refunded ones. A purchase that has \
            an owner keeps it. The purchase pays the order in order_id; imported_at is kept as a note. Rows are recorded in the order of the \
            file, so the first of two customers with the same purchase gets it. Webhooks do not deliver its events unless \
            --announce is given.

            A receipt does not say whether its consumables were used, so --consumables must say it for an app that sells any: \
            with 'delivered', nothing is added to balances, and a later refund shows a shortfall; with 'balance', customers \
            get all units.

            An import that was interrupted, even by kill -9, continues if the same command is run again: rows already recorded \
            are recognised and change nothing. The app and its products must be in the settings of the latest start of the \
            server, which can run meanwhile.

            --dry-run imports into a copy of the ledger, a SQLite file in TMPDIR, and prints the same report. The copy is deleted \
            afterwards.

            Exit status: 0 if all rows were accepted, 1 if some were rejected, 2 for wrong usage or I/O, 130 after Ctrl-C.
            """)

    @OptionGroup var options: OperatorOptions
    @OptionGroup var trust: LedgerTrustOption
    @Flag(help: "Verify and decide, write nothing, and print the report.") var dryRun = false
    @Flag(help: "Deliver the events of the import to webhooks.") var announce = false

    @Option(name: .long, help: "Whether the existing system delivered consumables, or customers get them as a balance.")
    var consumables: ImportedConsumables?

    @Option(help: "How many receipts to verify at the same time; one a core, if not given.") var jobs: Int?
    @Argument(help: "A CSV file, a file of NDJSON, or a folder; '-' is standard input.") var file: String

    func validate() throws {
        guard jobs ?? 1 >= 1 else { throw ValidationError("'--jobs' takes a number from 1.") }
    }

    func run() async throws {
        let reader = try ImportReader(file)
        var outcome: ImportRun.Outcome?
        if dryRun {
            outcome = try await tried(reader)
        } else {
            let isShared = try isShared()
            try await options.withLedger(trust: trust) { ledger, app in
                try requireChoice(for: ledger, app)
                var run = importing(into: ledger, app, isShared: isShared)
                run.numbers = try numbers(for: ledger, app)
                outcome = await report(run.run(reader))
                try await run.numbers?.access.client.shutdown()
            }
        }
        guard let outcome else { return }
        if outcome.error != nil { throw ExitCode.unusable }
        if outcome.isInterrupted { throw ExitCode(Interruption.status) }
        if outcome.report.rejectedCount > 0 { throw ExitCode.rejected }
    }

    /// Fetches rows that have only numbers; `nil` if there are none. Says first how long that takes.
    private func numbers(for ledger: PurchaseLedger, _ app: String) throws -> ImportedNumbers? {
        let count = file == "-" ? 0 : try ImportedNumbers.count(file)
        guard count > 0 else { return nil }
        let numbers = ImportedNumbers(
            ledger: ledger, app: app, access: try ServerAPIAccess(app, options.ledger, trust), count: count)
        Terminal.remark(
            "\(counted(count, "row has", "rows have")) only the number of a purchase; fetching takes "
                + "\(ImportReport.duration(numbers.seconds)) at Apple's limits")
        return numbers
    }

    /// Prints the table, and the reason if the import ended early.
    private func report(_ outcome: ImportRun.Outcome) -> ImportRun.Outcome {
        Terminal.write(outcome.report.text(seconds: outcome.seconds, isDry: dryRun))
        let rest = dryRun ? "" : "; run the same command again to go on"
        if let error = outcome.error {
            Terminal.complain("\(error)\(rest)")
        } else if outcome.isInterrupted {
            Terminal.complain("interrupted\(rest)")
        }
        return outcome
    }

    /// - Throws: `InputError` if the app sells consumables and nothing was said about them.
    private func requireChoice(for ledger: PurchaseLedger, _ app: String) throws {
        guard consumables == nil, ledger.settings(of: app)?.sellsConsumables ?? false else { return }
        throw InputError(
            "--consumables",
            """
            is missing, and the app sells consumables: a receipt does not say whether they were used. Write '--consumables \
            delivered' if the existing system delivered them, or '--consumables balance' to give all units to the customers
            """)
    }

    private func importing(into ledger: PurchaseLedger, _ app: String, isShared: Bool) -> ImportRun {
        ImportRun(
            ledger: ledger, app: app, isAnnounced: announce, consumables: consumables,
            jobs: jobs ?? ProcessInfo.processInfo.activeProcessorCount, isShared: isShared)
    }

    /// Imports into a copy of the ledger. Only a copy gives the same decisions as the import, because a row can depend
    /// on any earlier row.
    private func tried(_ reader: ImportReader) async throws -> ImportRun.Outcome {
        do {
            let trial = try await TrialLedger(of: options.ledger, anchors: try trust.anchors(options.ledger))
            do {
                let app = try options.app(of: trial.ledger)
                try requireChoice(for: trial.ledger, app)
                var run = importing(into: trial.ledger, app, isShared: false)
                run.numbers = try numbers(for: trial.ledger, app)
                let outcome = report(await run.run(reader))
                try await run.numbers?.access.client.shutdown()
                try await trial.close()
                return outcome
            } catch {
                try await trial.close()
                throw error
            }
        } catch let failure as SQLiteBackup.Failure {
            Terminal.complain("\(failure.code): \(failure.description)")
            throw ExitCode.unusable
        } catch let error as LedgerStorageError {
            Terminal.complain("\(error)")
            throw ExitCode.unusable
        }
    }

    /// Whether another process has the SQLite file open.
    private func isShared() throws -> Bool {
        let url = try options.ledger.place().url
        guard !LedgerDatabases.isPostgreSQL(url) else { return false }
        let path = LedgerDatabaseOptions.absolute(String(url.dropFirst("sqlite:".count)))
        guard FileManager.default.fileExists(atPath: path) else { return false }
        do {
            return try SQLiteDatabase.isOpenElsewhere(path)
        } catch let error as LedgerStorageError {
            Terminal.complain("\(error)")
            throw ExitCode.unusable
        }
    }
}
