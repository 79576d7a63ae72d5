import ArgumentParser
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseServer

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
