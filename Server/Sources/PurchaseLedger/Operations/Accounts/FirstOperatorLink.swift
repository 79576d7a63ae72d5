import PurchaseVerification

/// Makes the link with which the first operator, `admin`, sets their password, while nobody can sign in.
public struct FirstOperatorLink: LedgerOperation {
    /// The name of the first operator.
    public static let name = "admin"

    /// How long the link works, in milliseconds: an hour. Each start of a server makes another.
    static let lifetime: Int64 = 3_600_000

    public init() {}

    public var locks: LedgerLocks { .parts([.operators]) }

    /// - Returns: the secret of the link; `nil` if an operator has a password.
    public func perform(_ transaction: LedgerTransaction) throws -> OneTimeLink? {
        let accounts = OperatorAccounts(transaction)
        let all = try accounts.operators.all()
        guard all.allSatisfy({ $0.password == nil }) else { return nil }
        var row =
            all.first { ExactText($0.name) == ExactText(Self.name) }
            ?? OperatorRow(name: Self.name, role: .admin, createdAt: transaction.now)
        row.role = .admin
        let link = accounts.giveLink(to: &row, lifetime: Self.lifetime)
        try accounts.operators.write(row)
        try accounts.log(.linkMade, Self.name)
        return link
    }
}
