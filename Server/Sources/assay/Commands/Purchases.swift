import ArgumentParser
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification

/// `assay purchases`: recorded purchases.
struct Purchases: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purchases", abstract: "Lists the purchases of a customer, and shows those of a transaction.",
        subcommands: [ListPurchases.self, ShowPurchase.self])
}

/// `assay purchases list`.
struct ListPurchases: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the purchases of a customer, the last seen first.")

    @OptionGroup var options: OperatorOptions
    @OptionGroup var list: ListOptions

    @Argument(help: "The customer.")
    var customer: String

    func run() async throws {
        try await options.withLedger(.reading) { ledger, app in
            let found = try await list.entries(of: PurchasesOfCustomer(app: app, customerID: customer), ledger)
            try list.write(
                found.entries.table, json: found.entries.map { TransactionMessage($0) }, hasMore: found.hasMore)
        }
    }
}

extension [RecordedPurchase] {
    /// The purchases as a table.
    var table: TextTable {
        var table = TextTable([
            "TRANSACTION", "CUSTOMER", "PRODUCT", "ENVIRONMENT", "QUANTITY", "BOUGHT", "EXPIRES", "WITHDRAWN", "ORDER",
        ])
        for purchase in self {
            table.append([
                purchase.transactionID.printable, purchase.customerID.cell, purchase.productID.printable,
                purchase.environment.name.printable, "\(purchase.quantity)", purchase.purchasedAt.cell,
                purchase.expiresAt.cell, (purchase.withdrawal?.date).cell,
                (purchase.orderID?.uuidString.lowercased()).cell,
            ])
        }
        return table
    }
}

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
