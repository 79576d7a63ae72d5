import ArgumentParser
import PurchaseLedger

/// `assay customers tester`: the customers for whom sandbox purchases count.
struct ChangeTesters: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tester", abstract: "Makes sandbox purchases of a customer count, or stops it.",
        discussion: """
            Under 'sandbox_access: testers', the default, sandbox purchases pay, grant and consume for testers only; those that \
            are recorded already count from then on, too. App Review buys in the sandbox, so name the account that you give to \
            App Review. 'assay list testers' lists them.
            """)

    @OptionGroup var options: OperatorOptions

    @Argument(help: "The customer's id. The customer need not be known yet.")
    var customer: String

    @Flag(name: .long, help: "The customer is no tester any more.")
    var remove = false

    @Option(name: .long, help: "Why, such as 'App Review'. It is recorded.")
    var reason: String?

    func validate() throws {
        if let reason { try ReasonOption.require(reason) }
    }

    func run() async throws {
        try await options.withLedger { ledger, app in
            let change = ChangeTester(app: app, customerID: customer, isTester: !remove, reason: reason)
            let isChanged = try await ledger.perform(change)
            let words =
                remove
                ? (isChanged ? "is no longer a tester" : "was not a tester")
                : (isChanged ? "is a tester now" : "was a tester already")
            Terminal.write("assay: \(customer.printable) \(words)\n")
        }
    }
}
