/// Makes a new link with which an operator sets a new password. The old password works until then.
public struct RenewOperatorLink: LedgerOperation {
    public var name: String
    /// Who makes it; `nil` for a command.
    public var by: String?

    public init(name: String, by: String? = nil) { (self.name, self.by) = (name, by) }

    public var locks: LedgerLocks { .parts([.operators]) }

    /// - Returns: the secret of the link; `nil` if there is no such operator.
    public func perform(_ transaction: LedgerTransaction) throws -> OneTimeLink? {
        let accounts = OperatorAccounts(transaction)
        guard var row = try accounts.operators.row(name) else { return nil }
        let link = accounts.giveLink(to: &row, lifetime: AddOperator.linkLifetime)
        try accounts.operators.write(row)
        try accounts.log(.linkMade, name, by: by)
        return link
    }
}
