import PurchaseVerification

/// The revocation in the newest signed transaction; `nil` inside means not revoked.
struct StampedRevocation: Sendable, Hashable {
    var stamp: Timestamp
    var revocation: Revocation?
}
