import ArgumentParser
import PurchaseLedger

/// `assay customers merge`.
struct MergeCustomer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge", abstract: "Merges a customer into another, who keeps the purchases of both.",
        discussion: "Use it for an anonymous customer who signed in. It cannot be undone.")

    @OptionGroup var options: OperatorOptions
    @OptionGroup var reason: ReasonOption

    @Argument(help: "The customer that is merged, such as an anonymous one.")
    var customer: String

    @Argument(help: "The customer that remains.")
    var into: String

    func run() async throws {
        try await options.withLedger { ledger, app in
            try await ledger.perform(
                MergeCustomers(app: app, customerID: customer, into: into, reason: reason.reason))
            try await ledger.finishMerges()
            Terminal.write("assay: merged \(customer.printable) into \(into.printable)\n")
        }
    }
}
