/// The operator whose password a link sets; `nil` if it does not work, or no longer.
public struct OperatorOfLink: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var link: OneTimeLink

    public init(_ link: OneTimeLink) { self.link = link }

    public func answer(_ reader: LedgerTransaction) throws -> OperatorAccount? {
        try OperatorAccounts(reader).row(of: link)?.account
    }
}
