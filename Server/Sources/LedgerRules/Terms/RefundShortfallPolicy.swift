/// The treatment of units of a consumable that were used before Apple refunded them (setting `refund_shortfall`).
public enum RefundShortfallPolicy: String, Sendable, CaseIterable {
    /// The shortfall is reported and changes no balance.
    case forgive
    /// The shortfall is subtracted from the balance, never below 0.
    case debt
}
