/// The policy for a customer who claims another customer's purchase.
public enum TransferPolicy: String, Sendable, CaseIterable {
    /// It stays with its owner.
    case deny
    /// An auto-renewable subscription or a non-consumable is transferred to the claimant.
    case move
}
