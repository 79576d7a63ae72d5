import ArgumentParser

/// `assay keys`: who may call the HTTP API.
struct Keys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Creates, lists and revokes keys to the HTTP API.",
        subcommands: [CreateKey.self, ListKeys.self, RevokeKey.self])
}
