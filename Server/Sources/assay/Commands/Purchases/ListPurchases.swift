import ArgumentParser
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification

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
            let found = try await list.entries { (cursor: Int64?, limit) in
                let page = try await ledger.answer(
                    PurchasesOfCustomer(app: app, customerID: customer, before: cursor, limit: limit))
                return (page.purchases, page.next)
            }
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
