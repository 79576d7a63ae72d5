import ArgumentParser
import PurchaseLedger
import PurchaseVerification

/// `assay customers move`.
struct MoveCustomerPurchase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Transfers a purchase from its owner to another customer.",
        discussion: """
            Everything that the owner has of the same original transaction is transferred: for a subscription, all of their \
            periods, and its renewals follow. Purchases that nobody owns can be given to a customer in the same way.
            """)

    @OptionGroup var options: OperatorOptions
    @OptionGroup var reason: ReasonOption

    @Argument(help: "The transaction id of the purchase.")
    var transaction: String

    @Argument(help: "The customer who gets it. The customer need not be known yet.")
    var customer: String

    @Option(name: .long, help: "The environment of the transaction, if the id exists in several.")
    var environment: AppStoreEnvironment?

    func run() async throws {
        try await options.withLedger { ledger, app in
            let former = try await ledger.perform(
                MovePurchase(
                    app: app, transactionID: transaction, environment: environment, to: customer,
                    reason: reason.reason))
            Terminal.write(
                "assay: transferred \(transaction.printable) from \(former?.printable ?? "nobody") to "
                    + "\(customer.printable)\n")
        }
    }
}
