/// Sets the password of an operator by their link, which then works no more. It ends the sessions of the operator, and
/// a lock.
public struct SetOperatorPassword: LedgerOperation {
    public var link: OneTimeLink
    /// The hash of the password.
    public var password: String
    public var address: String

    public init(link: OneTimeLink, password: String, address: String) {
        (self.link, self.password, self.address) = (link, password, address)
    }

    public var locks: LedgerLocks { .parts([.operators]) }

    /// - Returns: the operator; `nil` if the link does not work, or no longer.
    public func perform(_ transaction: LedgerTransaction) throws -> OperatorAccount? {
        let accounts = OperatorAccounts(transaction)
        guard var row = try accounts.row(of: link) else { return nil }
        row.password = password
        (row.linkSHA256, row.linkEndsAt, row.failures, row.lockedUntil) = (nil, nil, 0, nil)
        try accounts.operators.write(row)
        try accounts.sessions.delete(of: row.name)
        try accounts.log(.passwordSet, row.name, address: address)
        return row.account
    }
}
