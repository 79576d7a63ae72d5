import ArgumentParser

/// `assay keys`: the keys of the HTTP API, and the key that verifies the log.
struct Keys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Creates, lists and revokes API keys, and shows the key of the log.",
        subcommands: [CreateKey.self, ListKeys.self, RevokeKey.self, CreateSigningKey.self])
}
