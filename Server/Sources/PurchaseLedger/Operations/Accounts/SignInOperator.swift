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
