import ArgumentParser
import PurchaseAPI
import PurchaseLedger
import PurchaseServer

/// `assay customers timeline`.
struct ShowTimeline: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "timeline", abstract: "Lists everything that happened to a customer, oldest first.",
        discussion: """
            The list has the events of the customer and of everybody merged into them, and the claims that were rejected. Equal \
            rejections in succession are one line with a count. GET /v1/customers/{id}/timeline lists the same.
            """)

    @OptionGroup var options: OperatorOptions
    @OptionGroup var list: ListOptions

    @Argument(help: "The customer.")
    var customer: String

    func run() async throws {
        try await options.withLedger(.reading) { ledger, app in
            let found = try await list.entries(of: CustomerTimeline(app: app, customerID: customer), ledger)
            var table = TextTable([
                "AT", "WHAT", "COUNT", "PRODUCT", "TRANSACTION", "ORDER", "UNITS", "BALANCE", "UNTIL", "REASON", "TEXT",
            ])
            for entry in found.entries {
                table.append([
                    "\(entry.at)", (entry.code ?? entry.type).printable, entry.count > 1 ? "\(entry.count)" : "-",
                    entry.productID.cell, entry.transactionID.cell, entry.orderID.cell, entry.units.cell,
                    entry.balance.cell, entry.until.cell, entry.reason.cell, entry.text.printable,
                ])
            }
            try list.write(table, json: found.entries.map { TimelineMessage($0) }, hasMore: found.hasMore)
        }
    }
}
