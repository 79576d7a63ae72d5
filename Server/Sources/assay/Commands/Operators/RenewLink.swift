import ArgumentParser
import PurchaseLedger

/// `assay operators link`.
struct RenewLink: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link", abstract: "Prints a new link with which an operator sets a password.")

    @OptionGroup var ledger: LedgerDatabaseOptions

    @Argument(help: "The name of the operator.")
    var name: String

    func run() async throws {
        try await ledger.withLedger { ledger in
            guard let link = try await ledger.perform(RenewOperatorLink(name: name)) else {
                throw InputError(name, "there is no such operator; see 'assay operators list'")
            }
            Operators.write(link)
        }
    }
}
