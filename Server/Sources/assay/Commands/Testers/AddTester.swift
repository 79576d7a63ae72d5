import ArgumentParser
import PurchaseLedger

/// `assay testers add`.
struct AddTester: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Makes sandbox purchases of a customer count.",
        discussion: "Sandbox purchases that are recorded already count from now on, too.")

    @OptionGroup var options: OperatorOptions

    @Argument(help: "The customer's id. The customer need not be known yet.")
    var customer: String

    @Option(name: .long, help: "Why, such as 'App Review'. It is recorded.")
    var reason: String?

    func validate() throws {
        if let reason { try ReasonOption.require(reason) }
    }

    func run() async throws {
        try await options.withLedger { ledger, app in
            let change = ChangeTester(app: app, customerID: customer, isTester: true, reason: reason)
            let isNew = try await ledger.perform(change)
            Terminal.write("assay: \(customer.printable) \(isNew ? "is a tester now" : "was a tester already")\n")
        }
    }
}
