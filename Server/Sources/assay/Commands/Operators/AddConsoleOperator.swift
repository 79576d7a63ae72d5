public import ArgumentParser
public import PurchaseLedger

/// `assay operators add`.
struct AddConsoleOperator: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Adds an operator, and prints the link with which they set their password.")

    @OptionGroup var ledger: LedgerDatabaseOptions

    @Argument(help: "The name with which they sign in.")
    var name: String

    @Option(name: .long, help: "view, support or admin.")
    var role = OperatorRole.view

    func run() async throws {
        try await ledger.withLedger { ledger in
            guard let link = try await ledger.perform(AddOperator(name: name, role: role)) else {
                throw InputError(name, "there is an operator with this name; 'assay operators link' makes a new link")
            }
            Operators.write(link)
        }
    }
}

extension OperatorRole: ExpressibleByArgument {}
