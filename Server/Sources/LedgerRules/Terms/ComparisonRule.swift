/// The rule of the ledger that decided an answer (docs/compare.md, "Rules").
public enum ComparisonRule: Sendable, Hashable, CustomStringConvertible {
    /// A row of the state table of subscriptions.
    case state(row: Int)
    /// A period of another product ends the earlier one.
    case superseded
    /// A step of the order of precedence of owners.
    case own(step: Int)
    /// The rule of a kind of product.
    case kind(ProductKind)
    /// Grants and revocations by operators, and grounds of other shops.
    case byHand
    /// The list of seats of a subscription.
    case seats
    /// The setting `sandbox_access`.
    case sandboxAccess
    /// The products and entitlements of the settings.
    case settings
    /// Nothing is recorded that a rule could apply to.
    case nothingRecorded

    public var description: String {
        switch self {
        case .state(let row): "state_\(row)"
        case .superseded: "state_superseded"
        case .own(let step): "own_\(step)"
        case .kind(let kind): "kind_\(kind.rawValue)"
        case .byHand: "by_hand"
        case .seats: "seats"
        case .sandboxAccess: "sandbox_access"
        case .settings: "settings"
        case .nothingRecorded: "nothing_recorded"
        }
    }
}
