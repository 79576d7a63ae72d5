/// The build of a server, for its metrics.
public struct ServerBuild: Sendable, Equatable {
    public var version: String
    public var commit: String

    /// A build by its version and commit.
    public init(version: String = "unknown", commit: String = "unknown") {
        (self.version, self.commit) = (version, commit)
    }
}
