import PurchaseVerification

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
