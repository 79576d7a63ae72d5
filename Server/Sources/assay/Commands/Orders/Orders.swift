import ArgumentParser

/// `assay orders`: orders of an app.
struct Orders: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "orders", abstract: "Lists and shows orders.",
        subcommands: [ListOrders.self, ShowOrder.self])
}
