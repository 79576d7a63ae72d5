import ArgumentParser
import PurchaseLedger

/// `assay operators list`.
struct ListOperators: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Lists all operators.")

    @OptionGroup var ledger: LedgerDatabaseOptions

    func run() async throws {
        try await ledger.withLedger(.reading) { ledger in
            let operators = try await ledger.answer(OperatorList())
            guard !operators.isEmpty else {
                return Terminal.remark("there are no operators; add one with 'assay operators add'")
            }
            var table = TextTable(["NAME", "ROLE", "CREATED", "STATE"])
            for account in operators {
                table.append([
                    account.name.printable, account.role.rawValue, "\(account.createdAt)",
                    account.hasPassword ? "may sign in" : "has no password",
                ])
            }
            Terminal.write(table.text(indent: 0))
        }
    }
}
