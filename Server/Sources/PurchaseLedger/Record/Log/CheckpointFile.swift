/// Keeps the latest checkpoint in a file, which is replaced atomically.
public struct CheckpointFile: CheckpointPublisher {
    /// The path of the file.
    public let path: String

    /// Publishes to a file.
    public init(path: String) {
        self.path = path
    }

    public func publish(_ checkpoint: SignedCheckpoint) async throws {
        try LogFile.replace(path, mode: 0o644, checkpoint.note)
    }
}
