import ArgumentParser
import PurchaseLedger

/// `assay operators`: who may sign in to the console.
struct Operators: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manages the people who sign in to the console of a server.",
        subcommands: [AddConsoleOperator.self, ListOperators.self, RemoveOperator.self, RenewLink.self])

    /// Prints a link, as the part of its address after that of the listener for operators.
    static func write(_ link: OneTimeLink) {
        Terminal.write("/console/link?secret=\(link.text)\n")
        Terminal.remark("the operator opens it on the address of server.admin, once, within a day")
    }
}
