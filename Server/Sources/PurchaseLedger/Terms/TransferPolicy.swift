/// What happens when a customer claims what another customer owns.
public enum TransferPolicy: String, Sendable, CaseIterable {
    /// It stays with its owner.
    case deny
    /// An auto-renewable subscription or a non-consumable is transferred to the claimant.
    case move
}
