import ArgumentParser
import PurchaseLedger

/// `assay customers search`.
struct SearchCustomers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Finds customers by the beginning of their id, or by what belongs to them.",
        discussion: """
            The text is the beginning of a customer's id, whatever its case and accents, or of an order id (six digits or \
            more), or the whole of a transaction id or an account token.
            """)

    @OptionGroup var options: OperatorOptions
    @OptionGroup var list: ListOptions

    @Argument(help: "The text.")
    var text: String

    func run() async throws {
        try await options.withLedger(.reading) { ledger, app in
            let found = try await ledger.answer(CustomerSearch(app: app, text: text, limit: list.limit + 1))
            let customers = Array(found.prefix(list.limit))
            var table = TextTable(["CUSTOMER", "FOUND BY", "MERGED INTO"])
            for customer in customers {
                table.append([customer.customerID.printable, customer.foundBy.rawValue, customer.mergedInto.cell])
            }
            try list.write(table, json: customers.map(Message.init), hasMore: found.count > list.limit)
        }
    }

    private struct Message: Encodable {
        let customer_id: String
        let found_by: String
        let merged_into: String?

        init(_ customer: CustomerSearch.Found) {
            (customer_id, found_by) = (customer.customerID, customer.foundBy.rawValue)
            merged_into = customer.mergedInto
        }
    }
}
