import ArgumentParser
import PurchaseLedger

/// `assay testers remove`.
struct RemoveTester: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Makes sandbox purchases of a customer count no longer.")

    @OptionGroup var options: OperatorOptions

    @Argument(help: "The customer's id.")
    var customer: String

    func run() async throws {
        try await options.withLedger { ledger in
            let change = ChangeTester(app: options.app, customerID: customer, isTester: false)
            let wasTester = try await ledger.perform(change)
            Terminal.write("assay: \(customer.printable) \(wasTester ? "is no tester now" : "was no tester")\n")
        }
    }
}
