import PurchaseVerification

/// The kinds of ownership acts. A claim is decided under the transfer policy at its time.
enum OwnershipActKind: String, Sendable {
    case claim
    case movingClaim = "moving_claim"
    case move
}
