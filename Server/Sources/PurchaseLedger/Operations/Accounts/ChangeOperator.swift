/// Changes the role of an operator, or removes them. Either ends their sessions.
public struct ChangeOperator: LedgerOperation {
    public var name: String
    /// The new role; `nil` removes the operator.
    public var role: OperatorRole?
    /// Who changes them; `nil` for a command.
    public var by: String?

    public init(name: String, role: OperatorRole?, by: String? = nil) {
        (self.name, self.role, self.by) = (name, role, by)
    }

    public var locks: LedgerLocks { .parts([.operators]) }

    /// - Returns: whether there is such an operator.
    public func perform(_ transaction: LedgerTransaction) throws -> Bool {
        let accounts = OperatorAccounts(transaction)
        guard var row = try accounts.operators.row(name) else { return false }
        if let role {
            row.role = role
            try accounts.operators.write(row)
        } else {
            _ = try accounts.operators.delete(name)
        }
        try accounts.sessions.delete(of: name)
        try accounts.log(role == nil ? .removed : .roleChanged, name, by: by)
        return true
    }
}
