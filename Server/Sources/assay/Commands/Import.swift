import AppStoreConnection
import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseServer
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
            let isShared = try options.ledger.place().fileInUse() != nil
            try await options.withLedger(trust: trust) { ledger, app in
                outcome = try await imported(reader, into: ledger, app, isShared: isShared)
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

    /// - Parameter isShared: whether another process has the SQLite file open.
    private func imported(
        _ reader: ImportReader, into ledger: PurchaseLedger, _ app: String, isShared: Bool
    ) async throws -> ImportRun.Outcome {
        try requireChoice(for: ledger, app)
        let run = ImportRun(
            ledger: ledger, app: app, isAnnounced: announce, consumables: consumables,
            jobs: jobs ?? ProcessInfo.processInfo.activeProcessorCount, numbers: try numbers(for: ledger, app),
            isShared: isShared)
        let outcome = report(await run.run(reader))
        try await run.numbers?.access.client.shutdown()
        return outcome
    }

    /// Imports into a copy of the ledger. Only a copy gives the same decisions as the import, because a row can depend
    /// on any earlier row.
    private func tried(_ reader: ImportReader) async throws -> ImportRun.Outcome {
        let trial = try await TrialLedger(of: options.ledger, anchors: try trust.anchors(options.ledger))
        do {
            let app = try options.app(of: trial.ledger)
            let outcome = try await imported(reader, into: trial.ledger, app, isShared: false)
            try await trial.close()
            return outcome
        } catch {
            try await trial.close()
            throw error
        }
    }
}

/// `assay import backfill`: reads histories and statuses from the App Store.
struct Backfill: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Reads what is missing from the App Store: histories and statuses.",
        discussion: """
            Asks the App Store Server API for the history of purchases that the ledger knows, and for the statuses of their \
            subscriptions. Everything is verified and recorded like any other evidence. The app needs a key: app_store_keys in \
            the settings file.

            The number of calls and the time that they take at Apple's limits are printed first. What was read once is asked \
            for by its revision afterwards, so only what changed comes again. A backfill of --all that was interrupted goes on \
            where it was when the same command is run again. The server can run meanwhile.

            Exit status: 0 if everything was read, 1 if Apple refused some, 2 for wrong usage or I/O, 130 after Ctrl-C.
            """)

    @OptionGroup var options: OperatorOptions
    @OptionGroup var trust: LedgerTrustOption

    @Option(name: .long, help: "The purchases of a customer.")
    var customer: String?

    @Option(name: .long, help: "The purchase of a transaction id, with everything that its buyer has in the app.")
    var transaction: String?

    @Flag(name: .long, help: "All purchases of the app.")
    var all = false

    func validate() throws {
        guard [customer != nil, transaction != nil, all].count(where: { $0 }) == 1 else {
            throw ValidationError("Name one of --customer, --transaction and --all.")
        }
    }

    func run() async throws {
        var status = ExitCode.success
        try await options.withLedger(trust: trust) { ledger, app in
            let access = try ServerAPIAccess(app, options.ledger, trust)
            do {
                status = try await BackfillRun(ledger: ledger, app: app, access: access).run(scope)
            } catch {
                try await access.client.shutdown()
                throw error
            }
            try await access.client.shutdown()
        }
        if status != .success { throw status }
    }

    private var scope: BackfillRun.Scope {
        if let customer { return .customer(customer) }
        return transaction.map { .transaction($0) } ?? .all
    }
}

/// A copy of a ledger in a SQLite file of TMPDIR, on which a command can try its changes.
struct TrialLedger {
    let ledger: PurchaseLedger
    private let database: any LedgerDatabase
    private let folder: URL

    /// Copies the ledger of any engine.
    ///
    /// - Throws: `SQLiteBackup.Failure`, `LedgerStorageError`, `InputError`.
    init(of options: LedgerDatabaseOptions, anchors: [TrustAnchor]) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "assay-trial-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        do {
            let file = folder.appending(path: "ledger.sqlite").path
            let place = try options.place()
            if place.file == nil {
                try await options.withDatabase { _ = try await LedgerBackup(of: $0, to: file).write() }
            } else if let source = try place.usableFile() {
                _ = try SQLiteBackup(of: source, to: file).write()
            }
            let database = try SQLiteDatabase(path: file)
            do {
                // It is not needed after a crash.
                try await database.set("synchronous", to: "OFF")
                ledger = try await PurchaseLedger.openRecorded(
                    database: database, verifier: PurchaseVerifier(anchors: anchors)
                ) { Timestamp(Date()) }
            } catch {
                try await database.close()
                throw error
            }
            self.database = database
        } catch {
            Self.remove(folder)
            throw error
        }
    }

    /// Deletes the copy.
    func close() async throws {
        defer { Self.remove(folder) }
        try await database.close()
    }

    private static func remove(_ folder: URL) {
        // A temporary folder that stays behind is readable for its owner only.
        try? FileManager.default.removeItem(at: folder)
    }
}
