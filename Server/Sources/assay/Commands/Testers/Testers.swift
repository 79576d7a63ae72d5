import ArgumentParser

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
