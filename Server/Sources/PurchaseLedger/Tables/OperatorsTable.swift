import PurchaseVerification

/// The operators of the console.
struct OperatorsTable {
    private static let writing = LedgerInsertion(
        "operators",
        ["name", "role", "created_at", "password", "link_sha256", "link_ends_at", "failures", "locked_until"],
        onConflict: ["name"],
        """
        DO UPDATE SET role = excluded.role, password = excluded.password, link_sha256 = excluded.link_sha256,
        link_ends_at = excluded.link_ends_at, failures = excluded.failures, locked_until = excluded.locked_until
        """)

    let connection: any LedgerConnection

    func row(_ name: String) throws(LedgerStorageError) -> OperatorRow? {
        try OperatorRow.first("WHERE name = ?1", [.text(name)], connection)
    }

    func row(link sha256: [UInt8]) throws(LedgerStorageError) -> OperatorRow? {
        try OperatorRow.first("WHERE link_sha256 = ?1", [.blob(sha256)], connection)
    }

    /// All operators, by name.
    func all() throws(LedgerStorageError) -> [OperatorRow] {
        try OperatorRow.all("ORDER BY name", [], connection)
    }

    /// Inserts an operator, or replaces the one with the same name.
    func write(_ row: OperatorRow) throws(LedgerStorageError) {
        try connection.insert(Self.writing, row.values)
    }

    /// - Returns: whether there was one.
    func delete(_ name: String) throws(LedgerStorageError) -> Bool {
        try connection.execute("DELETE FROM operators WHERE name = ?1", [.text(name)]) == 1
    }
}

struct OperatorRow: TableRow {
    static let table = Table(
        "operators", key: nil,
        columns: [
            "name", "role", "created_at", "password", "link_sha256", "link_ends_at", "failures", "locked_until",
        ])

    var name: String
    var role: OperatorRole
    var createdAt: Timestamp
    /// The hash of the password; `nil` until it is set.
    var password: String?
    var linkSHA256: [UInt8]?
    var linkEndsAt: Timestamp?
    /// The wrong passwords since the last right one.
    var failures: Int64 = 0
    var lockedUntil: Timestamp?

    init(name: String, role: OperatorRole, createdAt: Timestamp) {
        (self.name, self.role, self.createdAt) = (name, role, createdAt)
    }

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        name = try reader.text()
        role = try reader.named(OperatorRole.self)
        createdAt = try reader.time()
        password = try reader.optionalText()
        linkSHA256 = try reader.optionalBlob()
        linkEndsAt = try reader.optionalTime()
        failures = try reader.integer()
        lockedUntil = try reader.optionalTime()
    }

    var values: [LedgerValue] {
        [
            .text(name), .text(role.rawValue), .time(createdAt), .text(password), .blob(linkSHA256), .time(linkEndsAt),
            .integer(failures), .time(lockedUntil),
        ]
    }

    var account: OperatorAccount {
        OperatorAccount(
            name: name, role: role, createdAt: createdAt, hasPassword: password != nil, lockedUntil: lockedUntil)
    }
}

/// The sessions of operators.
struct OperatorSessionsTable {
    let connection: any LedgerConnection

    func session(_ sha256: [UInt8]) throws(LedgerStorageError) -> OperatorSession? {
        try sessions("WHERE session_sha256 = ?1", [.blob(sha256)]).first
    }

    /// The sessions of an operator, the last used first.
    func sessions(of name: String) throws(LedgerStorageError) -> [OperatorSession] {
        try sessions("WHERE name = ?1 ORDER BY used_at DESC, session_sha256", [.text(name)])
    }

    private func sessions(
        _ condition: String, _ parameters: [LedgerValue]
    ) throws(LedgerStorageError) -> [OperatorSession] {
        var sessions: [OperatorSession] = []
        for row in try connection.rows(
            "SELECT session_sha256, name, created_at, used_at, address FROM operator_sessions \(condition)", parameters)
        {
            var reader = row.reader
            sessions.append(
                OperatorSession(
                    sha256: try reader.blob(), operatorName: try reader.text(), createdAt: try reader.time(),
                    usedAt: try reader.time(), address: try reader.text()))
        }
        return sessions
    }

    func insert(_ session: OperatorSession) throws(LedgerStorageError) {
        try connection.execute(
            """
            INSERT INTO operator_sessions (session_sha256, name, created_at, used_at, address)
            VALUES (?1, ?2, ?3, ?4, ?5)
            """,
            [
                .blob(session.sha256), .text(session.operatorName), .time(session.createdAt), .time(session.usedAt),
                .text(session.address),
            ])
    }

    func note(_ sha256: [UInt8], at time: Timestamp) throws(LedgerStorageError) {
        try connection.execute(
            "UPDATE operator_sessions SET used_at = ?2 WHERE session_sha256 = ?1", [.blob(sha256), .time(time)])
    }

    func delete(_ sha256: [UInt8]) throws(LedgerStorageError) {
        try connection.execute("DELETE FROM operator_sessions WHERE session_sha256 = ?1", [.blob(sha256)])
    }

    /// Ends the sessions of an operator, except one.
    func delete(of name: String, except sha256: [UInt8]? = nil) throws(LedgerStorageError) {
        try connection.execute(
            "DELETE FROM operator_sessions WHERE name = ?1 AND session_sha256 <> ?2",
            [.text(name), .blob(sha256 ?? [])])
    }

    /// Deletes the sessions that were last used, or begun, before a time.
    func delete(usedBefore used: Timestamp, createdBefore created: Timestamp) throws(LedgerStorageError) {
        try connection.execute(
            "DELETE FROM operator_sessions WHERE used_at < ?1 OR created_at < ?2", [.time(used), .time(created)])
    }
}

/// The log of sign-ins and of changes to operators.
struct OperatorLogTable {
    /// How long a line is kept, in milliseconds: 400 days, which is a year and the time to look at it.
    static let lifetime: Int64 = 400 * 86_400_000

    let connection: any LedgerConnection

    /// Writes a line, or counts it in the one with its time and id, and deletes those that are too old.
    ///
    /// - Parameter id: 16 bytes, random for a line of its own.
    func append(_ line: OperatorLogLine, id: [UInt8]) throws(LedgerStorageError) {
        try connection.execute(
            """
            INSERT INTO operator_log (at, log_id, name, act, by_name, address, count)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            ON CONFLICT (at, log_id) DO UPDATE SET name = ?3, count = operator_log.count + ?7
            """,
            [
                .time(line.at), .blob(id), .text(line.name), .text(line.act.rawValue),
                .text(line.by), .text(line.address), .integer(line.count),
            ])
        let oldest = Timestamp(millisecondsSince1970: line.at.millisecondsSince1970 - Self.lifetime)
        try connection.execute("DELETE FROM operator_log WHERE at < ?1", [.time(oldest)])
    }

    /// The newest lines.
    func newest(_ limit: Int64) throws(LedgerStorageError) -> [OperatorLogLine] {
        var lines: [OperatorLogLine] = []
        for row in try connection.rows(
            "SELECT at, name, act, by_name, address, count FROM operator_log ORDER BY at DESC, log_id DESC LIMIT ?1",
            [.integer(limit)])
        {
            var reader = row.reader
            lines.append(
                OperatorLogLine(
                    at: try reader.time(), name: try reader.text(), act: try reader.named(OperatorLogLine.Act.self),
                    by: try reader.optionalText(), address: try reader.optionalText(), count: try reader.integer()))
        }
        return lines
    }
}
