import PurchaseVerification

/// The operator who is signed in with a session; `nil` if it ended.
public struct OperatorOfSession: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    /// SHA-256 of the session's secret.
    public var sha256: [UInt8]

    public init(_ sha256: [UInt8]) { self.sha256 = sha256 }

    /// The answer.
    public struct SignedIn: Sendable, Equatable {
        public var account: OperatorAccount
        public var session: OperatorSession
        /// Whether its use should be noted, which is done once a minute.
        public var isUseStale: Bool
    }

    private static let noted: Int64 = 60_000

    public func answer(_ reader: LedgerTransaction) throws -> SignedIn? {
        let accounts = OperatorAccounts(reader)
        guard let session = try accounts.sessions.session(sha256), session.isValid(at: reader.now),
            let row = try accounts.operators.row(session.operatorName)
        else { return nil }
        let age = reader.now.millisecondsSince1970 - session.usedAt.millisecondsSince1970
        return SignedIn(account: row.account, session: session, isUseStale: age >= Self.noted)
    }
}
