import ArgumentParser
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseServer

/// `assay events`: the changes of the ledger.
struct Events: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Lists and shows changes of the ledger.",
        subcommands: [ListEvents.self, ShowEvent.self])
}

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
            let query = EventSearch(app: app, filter: selected, after: after)
            let found = try await list.entries(of: query, ledger)
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

/// `assay events show`.
struct ShowEvent: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Shows an event.")

    @OptionGroup var options: OperatorOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    @Argument(help: "The number of the event, as 'assay events list' shows it.")
    var event: Int64

    func run() async throws {
        try await options.withLedger(.reading) { ledger, app in
            let page = try await ledger.answer(
                EventSearch(app: app, after: max(0, event - 1), limit: 1))
            guard let found = page.entries.first, found.cursor == event else {
                Terminal.complain("the app has no event \(event); 'assay events list' lists all")
                throw ExitCode.rejected
            }
            let message = EventMessage(found.content)
            if json { try ListOptions.write(message) } else { Terminal.write(try FactList.text(message)) }
        }
    }
}
