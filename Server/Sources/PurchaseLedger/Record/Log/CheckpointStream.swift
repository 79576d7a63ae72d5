public import Foundation

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
