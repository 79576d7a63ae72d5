/// The destination of checkpoints.
public protocol CheckpointPublisher: Sendable {
    /// Publishes a checkpoint. The same checkpoint may be published again after a crash.
    func publish(_ checkpoint: SignedCheckpoint) async throws
}
