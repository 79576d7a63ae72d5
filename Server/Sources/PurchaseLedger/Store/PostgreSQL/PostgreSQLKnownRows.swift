/// The rows of a query.
struct PostgreSQLKnownRows {
    private(set) var rows: [LedgerRow]
    /// The rows whose changes matter to the query; `nil` for all.
    let scope: ReadScope?
    /// The insertion that replaces one of the rows, which are whole rows of its table; `nil` if there is none.
    private let replacement: String?
    /// Whether a decision read them in the middle. Its scope leaves out what that decision adds by itself, so no other
    /// write may use them after a change.
    let isLate: Bool

    init(rows: [LedgerRow], scope: ReadScope?, replacement: String? = nil, isLate: Bool = false) {
        (self.rows, self.scope, self.replacement, self.isLate) = (rows, scope, replacement, isLate)
    }

    /// What changes by other writes mean for the rows.
    enum Effect {
        case none
        /// The rows after the changes.
        case rows(PostgreSQLKnownRows)
        /// The rows must be read again.
        case unknown
    }

    /// The effect of changes by other writes.
    ///
    /// - Parameters:
    ///   - changes: the changes by table, in order.
    ///   - parameters: those of the query.
    func effect(of changes: [String: [PostgreSQLChange]], _ parameters: [LedgerValue]) -> Effect {
        guard !isLate, let scope else { return .unknown }
        var after = self
        var isAffected = false
        for change in scope.tables.lazy.compactMap({ changes[$0] }).joined()
        where change.affects(scope, parameters) {
            guard case .insertion(let insertion) = change.content, insertion.sql == replacement else { return .unknown }
            isAffected = true
            after.rows.removeAll { row in
                insertion.conflict.allSatisfy { row.values[$0] == change.parameters[$0] }
            }
            after.rows.append(LedgerRow(values: change.parameters))
        }
        return isAffected ? .rows(after) : .none
    }
}
