import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseVerification

/// `assay customers grant`.
struct GrantToCustomer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant", abstract: "Gives a product to a customer, and prints the id of the grant.",
        discussion: """
            The grant gives access independently of purchases. It ends at --until, or when it is lifted: \
            'assay customers lift'.
            """)

    @OptionGroup var options: OperatorOptions
    @OptionGroup var reason: ReasonOption

    @Argument(help: "The customer's id. The customer need not be known yet.")
    var customer: String

    @Argument(help: "The product, by its id in the settings.")
    var product: String

    @Option(name: .long, help: "How many units, of a consumable.")
    var quantity: Int64 = 1

    @Option(name: .long, help: "When it ends, such as 2026-12-31T00:00:00Z; without it, it does not end.")
    var until: Timestamp?

    @Option(name: .long, help: "The environment in which it counts.")
    var environment = AppStoreEnvironment.production

    func validate() throws {
        guard quantity > 0 else { throw ValidationError("--quantity is \(quantity). Write a whole number from 1.") }
    }

    func run() async throws {
        try await options.withLedger { ledger, app in
            let id = try await ledger.perform(
                GrantByHand(
                    app: app, customerID: customer, productID: product, environment: environment,
                    quantity: quantity, until: until, reason: reason.reason))
            Terminal.write("\(id.uuidString.lowercased())\n")
        }
    }
}
