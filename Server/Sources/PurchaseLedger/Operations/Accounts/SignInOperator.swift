import PurchaseVerification

/// Records a sign-in: begins a session, or counts a wrong password.
public struct SignInOperator: LedgerOperation {
    public var name: String
    public var address: String
    public var check: PasswordCheck

    /// What the password was.
    public enum PasswordCheck: Sendable, Equatable {
        /// The hash that the password was compared with, and SHA-256 of the new session's secret.
        case right(password: String, session: [UInt8])
        case wrong
        /// It was not looked at.
        case locked
    }

    /// The wrong passwords before the name is locked.
    static let freeFailures: Int64 = 5
    /// The first lock, in milliseconds: a minute. It doubles with each wrong password after it.
    static let firstLock: Int64 = 60_000
    /// The longest lock, in milliseconds: 15 minutes. A longer one would let anybody lock an operator out for a day.
    static let longestLock: Int64 = 15 * 60_000

    public init(name: String, address: String, check: PasswordCheck) {
        (self.name, self.address, self.check) = (name, address, check)
    }

    public var locks: LedgerLocks { .parts([.operators]) }

    /// - Returns: whether a session began. It does not if the operator was locked or removed, or got another password,
    ///   since the password was compared.
    public func perform(_ transaction: LedgerTransaction) throws -> Bool {
        let accounts = OperatorAccounts(transaction)
        guard var row = try accounts.operators.row(name) else {
            try accounts.logRefused(name, address: address)
            return false
        }
        let isLocked = row.lockedUntil.map { $0 > transaction.now } ?? false
        switch check {
        case .right(let password, let session) where row.password == password && !isLocked:
            (row.failures, row.lockedUntil) = (0, nil)
            try accounts.operators.write(row)
            let now = transaction.now
            try accounts.sessions.delete(
                usedBefore: Timestamp(millisecondsSince1970: now.millisecondsSince1970 - OperatorSession.idle),
                createdBefore: Timestamp(millisecondsSince1970: now.millisecondsSince1970 - OperatorSession.longest))
            try accounts.sessions.insert(
                OperatorSession(sha256: session, operatorName: name, createdAt: now, usedAt: now, address: address))
            try accounts.log(.signedIn, name, address: address)
            return true
        case .right, .locked:
            try accounts.logRefused(name, address: address)
            return false
        case .wrong:
            row.failures += 1
            if row.failures >= Self.freeFailures {
                let doublings = min(row.failures - Self.freeFailures, 8)
                let lock = min(Self.firstLock << doublings, Self.longestLock)
                row.lockedUntil = Timestamp(millisecondsSince1970: transaction.now.millisecondsSince1970 + lock)
            }
            try accounts.operators.write(row)
            try accounts.log(.wrongPassword, name, address: address)
            return false
        }
    }
}

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
