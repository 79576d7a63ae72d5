public import Foundation

/// The destination of checkpoints.
public protocol CheckpointPublisher: Sendable {
    /// Publishes a checkpoint. The same checkpoint may be published again after a crash.
    func publish(_ checkpoint: SignedCheckpoint) async throws
}

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

/// Writes each checkpoint to a stream, such as standard output, followed by an empty line.
public struct CheckpointStream: CheckpointPublisher {
    private let handle: FileHandle

    /// Publishes to a stream.
    public init(_ handle: FileHandle = .standardOutput) {
        self.handle = handle
    }

    public func publish(_ checkpoint: SignedCheckpoint) async throws {
        try handle.write(contentsOf: Data(checkpoint.note + [0x0A]))
    }
}
