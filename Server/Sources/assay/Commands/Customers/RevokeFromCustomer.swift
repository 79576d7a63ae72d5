import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseVerification

/// `assay customers revoke`.
struct RevokeFromCustomer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revokes a purchase or a grant of a customer, and prints the id of the revocation.",
        discussion: """
            The revocation overrides the App Store and ends only when it is lifted: 'assay customers lift'. Revoking a \
            transaction of a subscription revokes all of its periods.
            """)

    @OptionGroup var options: OperatorOptions
    @OptionGroup var reason: ReasonOption

    @Argument(help: "The customer's id.")
    var customer: String

    @Option(name: .long, help: "The transaction id of the purchase that is revoked.")
    var transaction: String?

    @Option(name: .long, help: "The environment of the transaction, if the id exists in several.")
    var environment: AppStoreEnvironment?

    @Option(name: .long, help: "The id of the grant that is revoked.")
    var grant: UUID?

    func validate() throws {
        guard (transaction == nil) != (grant == nil) else {
            throw ValidationError("Name what is revoked: --transaction or --grant, and not both.")
        }
        guard environment == nil || transaction != nil else {
            throw ValidationError("--environment belongs to --transaction; a grant has its own.")
        }
    }

    func run() async throws {
        let target: RevokeByHand.Target
        if let grant {
            target = .grant(grant)
        } else {
            target = .purchase(transactionID: transaction ?? "", environment: environment)
        }
        try await options.withLedger { ledger, app in
            let id = try await ledger.perform(
                RevokeByHand(app: app, customerID: customer, target, reason: reason.reason))
            Terminal.write("\(id.uuidString.lowercased())\n")
        }
    }
}
