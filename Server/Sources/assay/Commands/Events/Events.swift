import ArgumentParser

/// `assay events`: the changes of the ledger.
struct Events: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Lists and shows changes of the ledger.",
        subcommands: [ListEvents.self, ShowEvent.self])
}
