import ArgumentParser

/// `assay keys`: who may call the HTTP API, and what verifies the log.
struct Keys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Creates, lists and revokes keys to the HTTP API, and shows the key of the log.",
        subcommands: [CreateKey.self, ListKeys.self, RevokeKey.self, SigningKey.self])
}
