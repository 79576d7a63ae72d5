import PurchaseVerification

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
