import ArgumentParser

/// `assay submissions`: the record of claims.
struct Submissions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "submissions", abstract: "Lists and shows claims as they were submitted.",
        subcommands: [ListSubmissions.self, ShowSubmission.self])
}
