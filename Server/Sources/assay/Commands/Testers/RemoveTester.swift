import ArgumentParser
import PurchaseLedger

/// `assay testers remove`.
struct RemoveTester: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Stops counting sandbox purchases of a customer.")

    @OptionGroup var options: OperatorOptions

    @Argument(help: "The customer's id.")
    var customer: String

    @Option(name: .long, help: "Why, such as 'App Review'. It is recorded.")
    var reason: String?

    func validate() throws {
        if let reason { try ReasonOption.require(reason) }
    }

    func run() async throws {
        try await options.withLedger { ledger, app in
            let change = ChangeTester(app: app, customerID: customer, isTester: false, reason: reason)
            let wasTester = try await ledger.perform(change)
            Terminal.write("assay: \(customer.printable) \(wasTester ? "is no longer a tester" : "was not a tester")\n")
        }
    }
}
