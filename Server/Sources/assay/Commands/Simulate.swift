import ArgumentParser
import EvidenceMint

/// `assay simulate`: an App Store of one's own, and attacks on what trusts it.
///
/// It has no options itself: a command takes those of its subcommands that are called the same.
struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Runs a simulated App Store, or attacks a server.",
        discussion: "Without the name of a subcommand, 'assay simulate' runs the store.",
        subcommands: [SimulateStore.self, SimulateAttacks.self], defaultSubcommand: SimulateStore.self)
}
