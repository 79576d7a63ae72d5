import PurchaseVerification

/// Notes the use of a session of the console, or ends sessions.
public struct ChangeSession: LedgerOperation {
    public var change: Change

    /// What changes.
    public enum Change: Sendable {
        /// The session with a hash was used.
        case used([UInt8])
        /// The operator signs out of a session.
        case signedOut([UInt8], name: String, address: String)
        /// The operator ends their other sessions.
        case others(than: [UInt8], name: String)
        /// The operator ends one of their sessions, by its number in the list.
        case one(id: String, name: String)
    }

    public init(_ change: Change) { self.change = change }

    public var locks: LedgerLocks { .parts([.operators]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        let accounts = OperatorAccounts(transaction)
        switch change {
        case .used(let sha256): try accounts.sessions.note(sha256, at: transaction.now)
        case .signedOut(let sha256, let name, let address):
            try accounts.sessions.delete(sha256)
            try accounts.log(.signedOut, name, address: address)
        case .one(let id, let name):
            for session in try accounts.sessions.sessions(of: name) where session.id == id {
                try accounts.sessions.delete(session.sha256)
            }
        case .others(let sha256, let name): try accounts.sessions.delete(of: name, except: sha256)
        }
    }
}
