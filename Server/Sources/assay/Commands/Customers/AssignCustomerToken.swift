import ArgumentParser
import Foundation
import PurchaseLedger

/// `assay customers token`.
struct AssignCustomerToken: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Assigns an account token to a customer.",
        discussion: """
            Purchases that carry the token belong to the customer, including those that are already recorded: they are \
            transferred from the customer who claimed them. Former tokens of the customer keep naming them. A token that names \
            another customer is refused (token_taken).
            """)

    @OptionGroup var options: OperatorOptions

    @Argument(help: "The customer's id. The customer need not be known yet.")
    var customer: String

    @Argument(help: "The token: the UUID that the app passes to StoreKit as appAccountToken.")
    var token: UUID

    func run() async throws {
        try await options.withLedger { ledger, app in
            _ = try await ledger.perform(AssignToken(app: app, customerID: customer, token: token))
            Terminal.write("assay: \(token.uuidString.lowercased()) names \(customer.printable)\n")
        }
    }
}
