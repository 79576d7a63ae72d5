import ArgumentParser

/// `assay refunds`: what Apple is told about refund requests.
struct Refunds: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refunds", abstract: "Lists refund requests, and compares policies for them.",
        subcommands: [ListRefunds.self, ReplayRefunds.self])
}
