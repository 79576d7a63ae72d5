/// Stored evidence.
public struct StoredEvidence: Sendable, Equatable {
    /// The stored bytes, as they were sent.
    public var bytes: [UInt8]
    /// The number of bytes that were sent.
    public var size: Int64
    /// Whether all of them are stored.
    public var isWhole: Bool { bytes.count == size }
}
