/// The insertion of a row of values into a table.
///
/// An engine on another machine can join several insertions of the same kind into one statement.
public struct LedgerInsertion: Sendable {
    /// The table.
    public let table: String
    /// The columns, in the order of the values.
    public let columns: [String]
    /// The columns of the unique key that a row can already have; none if such a row is refused.
    public let conflict: [String]
    /// What happens to such a row. It has no parameters.
    public let resolution: String
    /// Portable SQL with the values `?1`, `?2`…
    public let sql: String

    /// An insertion of rows.
    ///
    /// - Parameters:
    ///   - conflict: the columns of the unique key that a row can already have; none if such a row is refused.
    ///   - resolution: `DO NOTHING` or `DO UPDATE SET …`.
    public init(_ table: String, _ columns: [String], onConflict conflict: [String] = [], _ resolution: String = "") {
        (self.table, self.columns, self.conflict, self.resolution) = (table, columns, conflict, resolution)
        let places = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let tail = conflict.isEmpty ? "" : " ON CONFLICT (\(conflict.joined(separator: ", "))) \(resolution)"
        sql = "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(places))\(tail)"
    }
}
