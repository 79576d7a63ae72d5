import ArgumentParser
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseServer

/// `assay orders`: orders of an app.
struct Orders: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "orders", abstract: "Lists and shows orders.",
        subcommands: [ListOrders.self, ShowOrder.self])
}

/// `assay orders list`.
struct ListOrders: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists orders, newest first; with --status in the order of expiry, latest first."
    )

    @OptionGroup var options: OperatorOptions
    @OptionGroup var list: ListOptions

    @Option(name: .long, help: "Only orders of this customer.")
    var customer: String?

    @Option(name: .long, help: "Only orders in this state.")
    var status: OrderStatus?

    func run() async throws {
        try await options.withLedger(.reading) { ledger, app in
            let query = OrderList(app: app, status: status, customerID: customer)
            let found = try await list.entries(of: query, ledger)
            var table = TextTable(["ORDER", "CREATED", "STATUS", "CUSTOMER", "PRODUCT", "QUANTITY", "TRANSACTION"])
            for order in found.entries {
                table.append([
                    order.id.uuidString.lowercased(), "\(order.createdAt)", order.status.rawValue,
                    order.customerID.printable, order.productID.printable, "\(order.quantity)",
                    (order.payment?.transactionID).cell,
                ])
            }
            try list.write(table, json: found.entries.map { OrderMessage($0) }, hasMore: found.hasMore)
        }
    }
}

/// `assay orders show`.
struct ShowOrder: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Shows an order.")

    @OptionGroup var options: OperatorOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    @Argument(help: "The id of the order.")
    var order: String

    func run() async throws {
        try await options.withLedger(.reading) { ledger, app in
            guard let id = UUID(uuidString: order) else { throw InputError(order, "is not the id of an order") }
            let message = OrderMessage(try await ledger.answer(OrderByID(app: app, orderID: id)))
            if json { try ListOptions.write(message) } else { Terminal.write(try FactList.text(message)) }
        }
    }
}
