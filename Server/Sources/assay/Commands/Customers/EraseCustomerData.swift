import ArgumentParser
import Foundation
import PurchaseLedger
import TextFormats

/// `assay customers erase`.
struct EraseCustomerData: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase", abstract: "Erases a person: names, details and evidence.",
        discussion: """
            It deletes the customer_id of the customer and of every customer merged into them, their account tokens, orders, grants \
            and consumption, the details of their journal entries, and their evidence, unless it also proves purchases of others. \
            Hashes stay, so the journal can be audited, and the purchases stay claimed: nobody can claim them again. It cannot be \
            undone, and the person has no entitlements afterwards.

            It does not reach backups, copies of the database, webhooks that were delivered, or data that other customers sent or an \
            operator wrote as a reason. The database overwrites deleted data; the file beside it with the suffix -wal has \
            copies until the server is stopped or SQLite restarts the file.
            """)

    @OptionGroup var options: OperatorOptions
    @OptionGroup var trust: LedgerTrustOption
    @OptionGroup var reason: ReasonOption

    @Flag(name: .long, help: "Do not ask. Needed if standard input is not a terminal.")
    var yes = false

    @Argument(help: "The customer.")
    var customer: String

    func validate() throws {
        guard yes || Terminal.isInputTerminal else {
            throw ValidationError("Erasing cannot be undone, and nobody can be asked here. Write --yes to erase.")
        }
    }

    func run() async throws {
        try await options.withLedger(trust: trust) { ledger, app in
            guard try yes || isConfirmed(of: app) else {
                Terminal.complain("nothing was erased")
                throw ExitCode.failure
            }
            let erased = try await ledger.perform(
                EraseCustomer(app: app, customerID: customer, reason: reason.reason))
            Terminal.write(
                """
                assay: erased \(customer.printable): \(counted(erased.entries, "entry", "entries")), \
                \(counted(erased.evidence, "piece")) of evidence; \
                \(counted(erased.transactions, "purchase stays", "purchases stay")) claimed

                """)
            if erased.keptEvidence > 0 {
                Terminal.write(
                    "assay: kept \(counted(erased.keptEvidence, "piece")) of evidence, because others sent it, too, or it proves "
                        + "purchases of others\n")
            }
        }
    }

    /// Asks for the name again.
    private func isConfirmed(of app: String) throws -> Bool {
        Terminal.write(
            "Erase \(customer.printable) of \(app.printable) for ever? Write the name again: ", toErrors: true)
        return readLine().map { ExactText($0) } == ExactText(customer)
    }
}
