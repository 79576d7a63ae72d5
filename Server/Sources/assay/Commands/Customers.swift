import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseVerification
import TextFormats

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

/// A command of an operator that changes something of an app, and prints one result.
protocol OperatorCommand: AsyncParsableCommand {
    var options: OperatorOptions { get }
    /// The certificates that evidence is verified with; `nil` for a command that verifies none.
    var verifying: LedgerTrustOption? { get }

    /// Makes the change.
    ///
    /// - Returns: what is printed.
    func perform(_ ledger: PurchaseLedger, _ app: String) async throws -> String
}

extension OperatorCommand {
    var verifying: LedgerTrustOption? { nil }

    func run() async throws {
        try await options.withLedger(trust: verifying) { ledger, app in
            Terminal.write(try await perform(ledger, app) + "\n")
        }
    }
}

/// `assay customers grant`.
struct GrantToCustomer: OperatorCommand {
    static let configuration = CommandConfiguration(
        commandName: "grant", abstract: "Gives a product to a customer, and prints the id of the grant.",
        discussion: """
            The grant gives access independently of purchases. It ends at --until, or when it is lifted: \
            'assay customers lift'.
            """)

    @OptionGroup var options: OperatorOptions
    @OptionGroup var reason: ReasonOption

    @Argument(help: "The customer's id. The customer need not be known yet.") var customer: String
    @Argument(help: "The product, by its id in the settings.") var product: String
    @Option(help: "How many units, of a consumable.") var quantity: Int64 = 1
    @Option(help: "When it ends, such as 2026-12-31T00:00:00Z; without it, it does not end.") var until: Timestamp?
    @Option(help: "The environment in which it counts.") var environment = AppStoreEnvironment.production

    func validate() throws {
        guard quantity > 0 else { throw ValidationError("--quantity is \(quantity). Write a whole number from 1.") }
    }

    func perform(_ ledger: PurchaseLedger, _ app: String) async throws -> String {
        try await ledger.perform(
            GrantByHand(
                app: app, customerID: customer, productID: product, environment: environment, quantity: quantity,
                until: until, reason: reason.reason)
        ).uuidString.lowercased()
    }
}

/// `assay customers revoke`.
struct RevokeFromCustomer: OperatorCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Revokes a purchase or a grant of a customer, and prints the id of the revocation.",
        discussion: """
            The revocation overrides the App Store and ends only when it is lifted: 'assay customers lift'. Revoking a \
            transaction of a subscription revokes all of its periods.
            """)

    @OptionGroup var options: OperatorOptions
    @OptionGroup var reason: ReasonOption

    @Argument(help: "The customer's id.") var customer: String
    @Option(help: "The transaction id of the purchase that is revoked.") var transaction: String?

    @Option(name: .long, help: "The environment of the transaction, if the id exists in several.")
    var environment: AppStoreEnvironment?

    @Option(help: "The id of the grant that is revoked.") var grant: UUID?

    func validate() throws {
        guard (transaction == nil) != (grant == nil) else {
            throw ValidationError("Name what is revoked: --transaction or --grant, and not both.")
        }
        guard environment == nil || transaction != nil else {
            throw ValidationError("--environment belongs to --transaction; a grant has its own.")
        }
    }

    func perform(_ ledger: PurchaseLedger, _ app: String) async throws -> String {
        let target =
            grant.map { RevokeByHand.Target.grant($0) }
            ?? .purchase(transactionID: transaction ?? "", environment: environment)
        return try await ledger.perform(
            RevokeByHand(app: app, customerID: customer, target, reason: reason.reason)
        ).uuidString.lowercased()
    }
}

/// `assay customers token`.
struct AssignCustomerToken: OperatorCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Assigns an account token to a customer.",
        discussion: """
            Purchases that carry the token belong to the customer, including those that are already recorded: they are \
            transferred from the customer who claimed them. Former tokens of the customer keep naming them. A token that names \
            another customer is refused (token_taken).
            """)

    @OptionGroup var options: OperatorOptions

    @Argument(help: "The customer's id. The customer need not be known yet.") var customer: String
    @Argument(help: "The token: the UUID that the app passes to StoreKit as appAccountToken.") var token: UUID

    func perform(_ ledger: PurchaseLedger, _ app: String) async throws -> String {
        _ = try await ledger.perform(AssignToken(app: app, customerID: customer, token: token))
        return "assay: \(token.uuidString.lowercased()) names \(customer.printable)"
    }
}

/// `assay customers merge`.
struct MergeCustomer: OperatorCommand {
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

    @Argument(help: "The customer that is merged, such as an anonymous one.") var customer: String
    @Argument(help: "The customer that remains.") var into: String

    func perform(_ ledger: PurchaseLedger, _ app: String) async throws -> String {
        try await ledger.perform(
            MergeCustomers(app: app, customerID: customer, into: into, reason: reason.reason, holdsWrites: holdWrites))
        return "assay: merged \(customer.printable) into \(into.printable)"
    }
}

/// `assay customers move`.
struct MoveCustomerPurchase: OperatorCommand {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Transfers a purchase from its owner to another customer.",
        discussion: """
            Everything that the owner has of the same original transaction is transferred: for a subscription, all of their \
            periods, and its renewals follow. Purchases that nobody owns can be given to a customer in the same way.
            """)

    @OptionGroup var options: OperatorOptions
    @OptionGroup var reason: ReasonOption

    @Argument(help: "The transaction id of the purchase.") var transaction: String
    @Argument(help: "The customer who gets it. The customer need not be known yet.") var customer: String

    @Option(name: .long, help: "The environment of the transaction, if the id exists in several.")
    var environment: AppStoreEnvironment?

    func perform(_ ledger: PurchaseLedger, _ app: String) async throws -> String {
        let former = try await ledger.perform(
            MovePurchase(
                app: app, transactionID: transaction, environment: environment, to: customer, reason: reason.reason))
        let owner = former?.printable ?? "nobody"
        return "assay: transferred \(transaction.printable) from \(owner) to \(customer.printable)"
    }
}

/// `assay customers lift`.
struct LiftGrantOrRevocation: OperatorCommand {
    static let configuration = CommandConfiguration(
        commandName: "lift", abstract: "Ends a grant or a revocation that an operator made.")

    @OptionGroup var options: OperatorOptions
    @OptionGroup var reason: ReasonOption

    @Argument(help: "The customer's id.") var customer: String
    @Argument(help: "The id that 'grant' or 'revoke' printed; 'assay show' of the customer lists it.") var id: UUID

    func perform(_ ledger: PurchaseLedger, _ app: String) async throws -> String {
        try await ledger.perform(LiftByHand(app: app, customerID: customer, id: id, reason: reason.reason))
        return "assay: lifted \(id.uuidString.lowercased())"
    }
}

/// `assay customers tester`: the customers for whom sandbox purchases count.
struct ChangeTesters: OperatorCommand {
    static let configuration = CommandConfiguration(
        commandName: "tester", abstract: "Makes sandbox purchases of a customer count, or stops it.",
        discussion: """
            Under 'sandbox_access: testers', the default, sandbox purchases pay, grant and consume for testers only; those that \
            are recorded already count from then on, too. App Review buys in the sandbox, so name the account that you give to \
            App Review. 'assay list testers' lists them.
            """)

    @OptionGroup var options: OperatorOptions

    @Argument(help: "The customer's id. The customer need not be known yet.") var customer: String
    @Flag(help: "The customer is no tester any more.") var remove = false
    @Option(help: "Why, such as 'App Review'. It is recorded.") var reason: String?

    func validate() throws {
        if let reason { try ReasonOption.require(reason) }
    }

    func perform(_ ledger: PurchaseLedger, _ app: String) async throws -> String {
        let change = ChangeTester(app: app, customerID: customer, isTester: !remove, reason: reason)
        let isChanged = try await ledger.perform(change)
        let words =
            remove
            ? (isChanged ? "is no longer a tester" : "was not a tester")
            : (isChanged ? "is a tester now" : "was a tester already")
        return "assay: \(customer.printable) \(words)"
    }
}

/// `assay customers erase`.
struct EraseCustomerData: OperatorCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase", abstract: "Erases a person: names, details and evidence.",
        discussion: """
            It deletes the customer_id of the customer and of every customer merged into them, their account tokens, orders, grants \
            and consumption, the details of their journal entries, and their evidence, unless it also proves purchases of others. \
            Hashes stay, so the journal can be audited, and the purchases stay claimed: nobody can claim them again. It cannot be \
            undone, and the person has no entitlements afterwards.

            It does not reach backups, copies of the database, webhooks that were delivered, or data that other customers sent or an \
            operator wrote as a reason. The database overwrites deleted data; the file beside it with the suffix -wal has \
            copies until the server is stopped or SQLite restarts the file.
            """)

    @OptionGroup var options: OperatorOptions
    @OptionGroup var trust: LedgerTrustOption
    @OptionGroup var reason: ReasonOption
    @Flag(help: "Do not ask. Needed if standard input is not a terminal.") var yes = false
    @Argument(help: "The customer.") var customer: String

    var verifying: LedgerTrustOption? { trust }

    func validate() throws {
        guard yes || Terminal.isInputTerminal else {
            throw ValidationError("Erasing cannot be undone, and nobody can be asked here. Write --yes to erase.")
        }
    }

    func perform(_ ledger: PurchaseLedger, _ app: String) async throws -> String {
        guard try yes || isConfirmed(of: app) else {
            Terminal.complain("nothing was erased")
            throw ExitCode.failure
        }
        let erased = try await ledger.perform(EraseCustomer(app: app, customerID: customer, reason: reason.reason))
        let kept = """

            assay: kept \(counted(erased.keptEvidence, "piece")) of evidence, because others sent it, too, or it proves \
            purchases of others
            """
        return """
            assay: erased \(customer.printable): \(counted(erased.entries, "entry", "entries")), \
            \(counted(erased.evidence, "piece")) of evidence; \
            \(counted(erased.transactions, "purchase stays", "purchases stay")) claimed
            """ + (erased.keptEvidence > 0 ? kept : "")
    }

    /// Asks for the name again.
    private func isConfirmed(of app: String) throws -> Bool {
        Terminal.write(
            "Erase \(customer.printable) of \(app.printable) for ever? Write the name again: ", toErrors: true)
        return readLine().map { ExactText($0) } == ExactText(customer)
    }
}
