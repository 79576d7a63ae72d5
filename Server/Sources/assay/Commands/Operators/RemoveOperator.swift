import ArgumentParser
import PurchaseLedger

/// `assay operators remove`.
struct RemoveOperator: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Removes an operator and ends their sessions.")

    @OptionGroup var ledger: LedgerDatabaseOptions

    @Argument(help: "The name of the operator.")
    var name: String

    func run() async throws {
        try await ledger.withLedger { ledger in
            guard try await ledger.perform(ChangeOperator(name: name, role: nil)) else {
                throw InputError(name, "there is no such operator; see 'assay operators list'")
            }
            Terminal.write("assay: \(name.printable) was removed\n")
        }
    }
}
