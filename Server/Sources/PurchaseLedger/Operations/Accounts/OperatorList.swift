/// All operators of the console, by name.
public struct OperatorList: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public init() {}

    public func answer(_ reader: LedgerTransaction) throws -> [OperatorAccount] {
        try OperatorAccounts(reader).operators.all().map(\.account)
    }
}
