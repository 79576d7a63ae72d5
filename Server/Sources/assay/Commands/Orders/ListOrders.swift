import ArgumentParser
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseServer

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
            let found = try await list.entries { (cursor: OrderCursor?, limit) in
                let page = try await ledger.answer(
                    OrderList(app: app, status: status, customerID: customer, cursor: cursor, limit: limit))
                return (page.orders, page.next)
            }
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
