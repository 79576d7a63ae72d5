import PurchaseVerification

/// The sessions of an operator, and the newest lines of the log of sign-ins.
public struct OperatorActivity: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The operator whose sessions are listed.
    public var name: String
    /// The number of lines.
    public var limit: Int

    public init(of name: String, limit: Int) { (self.name, self.limit) = (name, limit) }

    /// The answer.
    public struct Answer: Sendable, Equatable {
        /// The last used first.
        public var sessions: [OperatorSession]
        /// About all operators, the newest first.
        public var log: [OperatorLogLine]
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        Answer(
            sessions: try OperatorAccounts(reader).sessions.sessions(of: name).filter { $0.isValid(at: reader.now) },
            log: try OperatorLogTable(connection: reader.connection).newest(Int64(limit)))
    }
}
