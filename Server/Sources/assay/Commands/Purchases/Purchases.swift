import ArgumentParser

/// `assay purchases`: recorded purchases.
struct Purchases: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purchases", abstract: "Lists the purchases of a customer, and shows those of a transaction.",
        subcommands: [ListPurchases.self, ShowPurchase.self])
}
