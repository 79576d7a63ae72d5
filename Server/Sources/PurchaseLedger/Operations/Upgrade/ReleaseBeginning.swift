/// The end of the migrations of a release, after which servers of the release before refuse to write.
public struct ReleaseBeginning: Sendable, Equatable {
    /// The numbers of the migrations that ended; none if all had ended before.
    public let migrations: [Int64]
    /// The version of the rules that begins; `nil` if the rules stay.
    public let rules: Int64?

    package init(migrations: [Int64], rules: Int64?) { (self.migrations, self.rules) = (migrations, rules) }
}
