import PurchaseVerification

/// Adds an operator of the console, without a password.
public struct AddOperator: LedgerOperation {
    public var name: String
    public var role: OperatorRole
    /// Who adds them; `nil` for a command.
    public var by: String?

    /// How long the link works, in milliseconds: a day, so that it can be sent to somebody.
    static let linkLifetime: Int64 = 86_400_000

    public init(name: String, role: OperatorRole, by: String? = nil) {
        (self.name, self.role, self.by) = (name, role, by)
    }

    public var locks: LedgerLocks { .parts([.operators]) }

    /// The name is part of events and webhooks, which other programs show: it has no markup, and nothing that changes
    /// the direction of text.
    private static func isOfNames(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            || [" ", ".", "_", "-", "@", "+"].contains(scalar)
    }

    /// - Returns: the secret of the link that sets the password once; `nil` if there is an operator with the name.
    /// - Throws: `field_malformed`.
    public func perform(_ transaction: LedgerTransaction) throws -> OneTimeLink? {
        guard ExactText(name).isIdentifier, name.utf8.count <= OperatorAccounts.nameBytes,
            name.unicodeScalars.allSatisfy(Self.isOfNames)
        else {
            throw LedgerRefusal(
                .fieldMalformed,
                expected: "a name of at most \(OperatorAccounts.nameBytes) bytes: letters, digits, spaces and . _ - @ +"
            )
        }
        let accounts = OperatorAccounts(transaction)
        guard try accounts.operators.row(name) == nil else { return nil }
        var row = OperatorRow(name: name, role: role, createdAt: transaction.now)
        let link = accounts.giveLink(to: &row, lifetime: Self.linkLifetime)
        try accounts.operators.write(row)
        try accounts.log(.added, name, by: by)
        return link
    }
}
