import AppStoreConnection
import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseServer
import PurchaseVerification

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
