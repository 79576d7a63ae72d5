/// What the writers of a database have done since it was opened, and what waits for them. An operator's monitor reads
/// it; it costs no access to the database.
public struct DatabaseLoad: Sendable, Equatable {
    /// The writes that wait for a transaction now.
    public var waiting = 0
    /// How long each commit took, in seconds: until the disk, or PostgreSQL, has confirmed it.
    public var commits = Distribution(bounds: [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ])
    /// The number of writes in each committed transaction.
    public var batches = Distribution(bounds: [1, 2, 4, 8, 16, 32, 64, 128, 256])

    /// A load of nothing.
    public init() {}

    /// Adds a committed transaction.
    mutating func add(writes: Int, commitSeconds: Double) {
        commits.add(commitSeconds)
        batches.add(Double(writes))
    }
}
