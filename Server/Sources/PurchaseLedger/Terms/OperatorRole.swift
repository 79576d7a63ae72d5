/// What an operator of the console may do. Each role may do what those before it may.
public enum OperatorRole: String, Sendable, CaseIterable, Comparable {
    /// Look.
    case view
    /// Grant, revoke and move purchases of single customers.
    case support
    /// Everything, operators included.
    case admin

    public static func < (left: OperatorRole, right: OperatorRole) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .view: 0
        case .support: 1
        case .admin: 2
        }
    }
}
