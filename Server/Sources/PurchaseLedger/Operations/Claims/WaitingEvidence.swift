public import PurchaseVerification

public import struct Foundation.UUID

/// Evidence of a restore that waits for the App Store.
public struct WaitingEvidence: Sendable, Equatable {
    public var claim: UUID
    public var sha256: [UInt8]
    /// When the App Store is asked again.
    public var nextAttemptAt: Timestamp?
}
