/// What became of the units of imported consumables in the existing system.
public enum ImportedConsumables: String, Sendable, CaseIterable {
    /// The existing system delivered them: they are taken at once, so a later refund shows a shortfall.
    case delivered
    /// They were not used: the customer gets them as a balance.
    case balance
}
