public import ArgumentParser
public import PurchaseLedger

/// `assay operators`: who may sign in to the console.
struct Operators: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manages the people who sign in to the console of a server.",
        subcommands: [AddConsoleOperator.self, RemoveOperator.self, RenewLink.self])

    static func unknown(_ name: String) -> InputError {
        InputError(name, "there is no such operator; see 'assay list operators'")
    }

    /// Prints a link, as the part of its address after that of the listener for operators.
    static func write(_ link: OneTimeLink) {
        Terminal.write("/console/link?secret=\(link.text)\n")
        Terminal.remark("the operator opens it on the address of server.admin, once, within a day")
    }
}

/// `assay operators add`.
struct AddConsoleOperator: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Adds an operator, and prints the link with which they set their password.")

    @OptionGroup var ledger: LedgerDatabaseOptions
    @Argument(help: "The name with which they sign in.") var name: String
    @Option(help: "view, support or admin.") var role = OperatorRole.view

    func run() async throws {
        try await ledger.withLedger { ledger in
            guard let link = try await ledger.perform(AddOperator(name: name, role: role)) else {
                throw InputError(name, "there is an operator with this name; 'assay operators link' makes a new link")
            }
            Operators.write(link)
        }
    }
}

extension OperatorRole: ExpressibleByArgument {}

/// `assay operators link`.
struct RenewLink: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link", abstract: "Prints a new link with which an operator sets a password.")

    @OptionGroup var ledger: LedgerDatabaseOptions
    @Argument(help: "The name of the operator.") var name: String

    func run() async throws {
        try await ledger.withLedger { ledger in
            guard let link = try await ledger.perform(RenewOperatorLink(name: name)) else {
                throw Operators.unknown(name)
            }
            Operators.write(link)
        }
    }
}

/// `assay operators remove`.
struct RemoveOperator: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Removes an operator and ends their sessions.")

    @OptionGroup var ledger: LedgerDatabaseOptions
    @Argument(help: "The name of the operator.") var name: String

    func run() async throws {
        try await ledger.withLedger { ledger in
            guard try await ledger.perform(ChangeOperator(name: name, role: nil)) else {
                throw Operators.unknown(name)
            }
            Terminal.write("assay: \(name.printable) was removed\n")
        }
    }
}
