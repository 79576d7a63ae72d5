import PurchaseVerification

/// What all operations about operators of the console share.
struct OperatorAccounts {
    /// The largest name, in bytes of UTF-8.
    static let nameBytes = 64

    let transaction: LedgerTransaction

    init(_ transaction: LedgerTransaction) { self.transaction = transaction }

    var operators: OperatorsTable { OperatorsTable(connection: transaction.connection) }
    var sessions: OperatorSessionsTable { OperatorSessionsTable(connection: transaction.connection) }

    /// Gives an operator a link that sets the password once, in place of an earlier one.
    func giveLink(to row: inout OperatorRow, lifetime: Int64) -> OneTimeLink {
        let link = OneTimeLink.random()
        row.linkSHA256 = link.sha256
        row.linkEndsAt = Timestamp(millisecondsSince1970: transaction.now.millisecondsSince1970 + lifetime)
        return link
    }

    /// The operator of a link that still works.
    func row(of link: OneTimeLink) throws(LedgerStorageError) -> OperatorRow? {
        guard let row = try operators.row(link: link.sha256), let end = row.linkEndsAt, end > transaction.now else {
            return nil
        }
        return row
    }

    func log(
        _ act: OperatorLogLine.Act, _ name: String, by: String? = nil, address: String? = nil
    ) throws(LedgerStorageError) {
        try OperatorLogTable(connection: transaction.connection).append(
            OperatorLogLine(at: transaction.now, name: name, act: act, by: by, address: address),
            id: RandomBytes.sixteen())
    }

    /// Counts a sign-in under a locked or unknown name. Anybody can send them without end, so there is one line for
    /// each address and minute.
    func logRefused(_ name: String, address: String) throws(LedgerStorageError) {
        let minute = transaction.now.millisecondsSince1970 / 60_000 * 60_000
        try OperatorLogTable(connection: transaction.connection).append(
            OperatorLogLine(
                at: Timestamp(millisecondsSince1970: minute), name: name, act: .refused, address: address),
            id: Array(StorableEvidence.sha256(Array(address.utf8)).prefix(16)))
    }
}

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

/// Changes the role of an operator, or removes them. Either ends their sessions.
public struct ChangeOperator: LedgerOperation {
    public var name: String
    /// The new role; `nil` removes the operator.
    public var role: OperatorRole?
    /// Who changes them; `nil` for a command.
    public var by: String?

    public init(name: String, role: OperatorRole?, by: String? = nil) {
        (self.name, self.role, self.by) = (name, role, by)
    }

    public var locks: LedgerLocks { .parts([.operators]) }

    /// - Returns: whether there is such an operator.
    public func perform(_ transaction: LedgerTransaction) throws -> Bool {
        let accounts = OperatorAccounts(transaction)
        guard var row = try accounts.operators.row(name) else { return false }
        if let role {
            row.role = role
            try accounts.operators.write(row)
        } else {
            _ = try accounts.operators.delete(name)
        }
        try accounts.sessions.delete(of: name)
        try accounts.log(role == nil ? .removed : .roleChanged, name, by: by)
        return true
    }
}

/// All operators of the console, by name.
public struct OperatorList: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public init() {}

    public func answer(_ reader: LedgerTransaction) throws -> [OperatorAccount] {
        try OperatorAccounts(reader).operators.all().map(\.account)
    }
}

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

/// The operator whose password a link sets; `nil` if it does not work, or no longer.
public struct OperatorOfLink: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var link: OneTimeLink

    public init(_ link: OneTimeLink) { self.link = link }

    public func answer(_ reader: LedgerTransaction) throws -> OperatorAccount? {
        try OperatorAccounts(reader).row(of: link)?.account
    }
}

/// Makes a new link with which an operator sets a new password. The old password works until then.
public struct RenewOperatorLink: LedgerOperation {
    public var name: String
    /// Who makes it; `nil` for a command.
    public var by: String?

    public init(name: String, by: String? = nil) { (self.name, self.by) = (name, by) }

    public var locks: LedgerLocks { .parts([.operators]) }

    /// - Returns: the secret of the link; `nil` if there is no such operator.
    public func perform(_ transaction: LedgerTransaction) throws -> OneTimeLink? {
        let accounts = OperatorAccounts(transaction)
        guard var row = try accounts.operators.row(name) else { return nil }
        let link = accounts.giveLink(to: &row, lifetime: AddOperator.linkLifetime)
        try accounts.operators.write(row)
        try accounts.log(.linkMade, name, by: by)
        return link
    }
}
