import ArgumentParser
import PurchaseAPI
import PurchaseLedger
import PurchaseServer

/// `assay purchases show`.
struct ShowPurchase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows the purchases of a transaction, one for each environment that has the id."
    )

    @OptionGroup var options: OperatorOptions

    @Flag(name: .long, help: "Print one JSON object for each purchase.")
    var json = false

    @Argument(help: "The transaction id.")
    var transaction: String

    func run() async throws {
        try await options.withLedger(.reading) { ledger, app in
            let found = try await ledger.answer(PurchasesOfTransaction(app: app, transactionID: transaction))
            guard !found.isEmpty else {
                Terminal.complain("transaction_unknown: no purchase of this transaction is recorded")
                throw ExitCode.rejected
            }
            for purchase in found {
                let message = TransactionMessage(purchase)
                if json { try ListOptions.write(message) } else { Terminal.write(try FactList.text(message)) }
            }
        }
    }
}
