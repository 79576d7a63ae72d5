import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseVerification

/// `assay customers`: a customer's entitlements, and the actions of operators.
struct Customers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Records operators' actions on customers: grants, revocations, merges, moves, erasures, testers.",
        discussion: """
            Every action is recorded in the journal and listed by GET /v1/events, with its reason. The commands use the settings \
            that the latest start of the server recorded, and can run while the server runs.

            Exit status: 0 if it was done, 1 if the ledger refused it, with the code, 2 for wrong usage or I/O.
            """,
        subcommands: [
            GrantToCustomer.self, RevokeFromCustomer.self, LiftGrantOrRevocation.self, MergeCustomer.self,
            AssignCustomerToken.self, MoveCustomerPurchase.self, ChangeTesters.self, EraseCustomerData.self,
        ])
}

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

/// `assay customers merge`.
struct MergeCustomer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge", abstract: "Merges a customer into another, who keeps the purchases of both.",
        discussion: "Use it for an anonymous customer who signed in. It cannot be undone.")

    @OptionGroup var options: OperatorOptions
    @OptionGroup var reason: ReasonOption

    @Flag(
        help: ArgumentHelp(
            "Merges however many purchases the customer has. All other writes wait: 50,000 purchases take some seconds."
        ))
    var holdWrites = false

    @Argument(help: "The customer that is merged, such as an anonymous one.")
    var customer: String

    @Argument(help: "The customer that remains.")
    var into: String

    func run() async throws {
        try await options.withLedger { ledger, app in
            try await ledger.perform(
                MergeCustomers(
                    app: app, customerID: customer, into: into, reason: reason.reason, holdsWrites: holdWrites))
            Terminal.write("assay: merged \(customer.printable) into \(into.printable)\n")
        }
    }
}

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

/// `assay customers lift`.
struct LiftGrantOrRevocation: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lift", abstract: "Ends a grant or a revocation that an operator made.")

    @OptionGroup var options: OperatorOptions
    @OptionGroup var reason: ReasonOption

    @Argument(help: "The customer's id.")
    var customer: String

    @Argument(help: "The id that 'grant' or 'revoke' printed; 'assay show' of the customer lists it.")
    var id: UUID

    func run() async throws {
        try await options.withLedger { ledger, app in
            try await ledger.perform(
                LiftByHand(app: app, customerID: customer, id: id, reason: reason.reason))
            Terminal.write("assay: lifted \(id.uuidString.lowercased())\n")
        }
    }
}
