import PurchaseVerification

/// What is needed to check the password of an operator.
public struct OperatorPassword: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var name: String

    public init(of name: String) { self.name = name }

    /// The answer.
    public struct Answer: Sendable, Equatable {
        /// The hash; `nil` for an operator without a password, and for nobody.
        public var password: String?
        /// Whether sign-ins are refused, after several wrong passwords.
        public var isLocked: Bool
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let row = try OperatorAccounts(reader).operators.row(name)
        return Answer(password: row?.password, isLocked: row?.lockedUntil.map { $0 > reader.now } ?? false)
    }
}
