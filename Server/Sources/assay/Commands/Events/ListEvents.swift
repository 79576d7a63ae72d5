import ArgumentParser
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseServer

/// `assay events list`.
struct ListEvents: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists the changes of the ledger, oldest first.")

    @OptionGroup var options: OperatorOptions
    @OptionGroup var list: ListOptions

    @Option(name: .long, help: "Begin after this event, by its number.")
    var after: Int64 = 0

    @Option(name: .long, help: "Only events of this customer, and of everybody merged into them.")
    var customer: String?

    @Option(name: .long, help: "Only events of this order.")
    var order: String?

    @Option(name: .long, help: "Only events of this transaction.")
    var transaction: String?

    func run() async throws {
        var filter = EventFilter(customerID: customer, transactionID: transaction)
        if let order {
            guard let id = UUID(uuidString: order) else { throw InputError(order, "is not the id of an order") }
            filter.orderID = id
        }
        let selected = filter
        try await options.withLedger(.reading) { ledger, app in
            let found = try await list.entries { (cursor: Int64?, limit) in
                let page = try await ledger.answer(
                    EventSearch(app: app, filter: selected, after: cursor ?? after, limit: limit))
                return (page.events, page.isEnd ? nil : page.next)
            }
            let messages = found.entries.map { EventMessage($0.content) }
            var table = TextTable([
                "EVENT", "AT", "TYPE", "CUSTOMER", "PRODUCT", "TRANSACTION", "ORDER", "UNITS", "BALANCE", "REASON",
            ])
            for (event, message) in zip(found.entries, messages) {
                table.append([
                    "\(event.cursor)", message.at.printable, event.type.printable, message.customerID.cell,
                    message.productID.cell, message.transactionID.cell, message.orderID.cell, message.units.cell,
                    message.balance.cell, message.reason.cell,
                ])
            }
            try list.write(table, json: messages, hasMore: found.hasMore)
        }
    }
}
