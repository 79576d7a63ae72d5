import ArgumentParser
import EvidenceMint
import Foundation

/// `assay simulate`: a simulated App Store, and attacks on servers that trust it.
///
/// It has no options itself, because a command consumes options of its subcommands with the same names. Its help shows
/// those of the store.
struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs a simulated App Store, a scenario on it, or attacks on a server.",
        discussion: "Without a subcommand, 'assay simulate' runs the store, with these options:\n\n\(storeOptions)",
        subcommands: [SimulateStore.self, SimulateRun.self, SimulateAttacks.self], defaultSubcommand: SimulateStore.self
    )

    /// The options of the store, as its own help lists them.
    private static var storeOptions: String {
        let help = SimulateStore.helpMessage(includeHidden: false, columns: 80)
        guard let start = help.range(of: "OPTIONS:\n") else { return "" }
        return String(help[start.upperBound...]).trimmingCharacters(in: .newlines)
    }
}
