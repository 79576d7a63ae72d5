import PurchaseVerification

public import struct Foundation.UUID

/// Evidence of a restore that proves nothing.
public struct RefusedEvidence: Sendable, Equatable {
    /// The journal entry; `nil` if the piece was only counted.
    public var submissionID: UUID?
    /// The hash of the entry's leaf in the Merkle log.
    public var leafHash: [UInt8]
    /// Its place in the request, from 0.
    public var index: Int
    public var rejection: Rejection
    public var disposition: Disposition

    /// The code of the rejection.
    public var code: String { rejection.code }
}
