import ArgumentParser
import PurchaseLedger

/// `assay testers`: the customers for whom sandbox purchases count.
struct Testers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Lists the customers whose sandbox purchases count, and changes the list.",
        discussion: """
            Under 'sandbox_access: testers', the default, sandbox purchases pay, grant and consume for these customers only. \
            App Review buys in the sandbox, so put the account that you give to App Review on the list.
            """,
        subcommands: [AddTester.self, RemoveTester.self, ListTesters.self])
}

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

/// `assay testers list`.
struct ListTesters: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Prints the testers of an app, one per line.")

    @OptionGroup var options: OperatorOptions

    func run() async throws {
        try await options.withLedger(.reading) { ledger, app in
            var list = TesterList(app: app)
            repeat {
                let page = try await ledger.answer(list)
                for name in page.entries { Terminal.write("\(name.printable)\n") }
                list.cursor = page.next
            } while list.cursor != nil
        }
    }
}

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
