/// A query whose parameters are values, or columns of the first row of another query: for example, the entitlements of
/// the customer with a name.
///
/// Shapes are created once.
final class ReadShape: Sendable {
    /// A parameter of the query.
    enum Parameter: Sendable {
        case value
        /// A column of the first row of another query.
        case column(Int, of: ReadShape)
    }

    /// Portable SQL with the parameters `?1`, `?2`…
    let sql: String
    /// The rows whose changes by the same write matter to the query.
    let scope: ReadScope
    let parameters: [Parameter]
    /// The table and column whose numbers are in its first column. No other row refers to a number that was just
    /// reserved, so for such a row the result is known to be empty.
    let numbering: String?
    /// The query for one of its rows by the number in the first column. Each row that was read answers it, too.
    let single: ReadShape?
    /// The insertion that replaces one of its rows, if these are whole rows of that table in any order. Then a change
    /// by another write of the transaction needs no second read.
    let replacement: LedgerInsertion?
    /// The same query with values for all parameters.
    let flatSQL: String
    /// The same query for lists of values. Its first column is the position in the lists, from 1.
    let listSQL: String
    /// The number of these values.
    let valueCount: Int

    init(
        _ sql: String, of scope: ReadScope, _ parameters: [Parameter], numbering: String? = nil,
        single: ReadShape? = nil, replacement: LedgerInsertion? = nil
    ) {
        self.sql = sql
        self.scope = scope
        self.numbering = numbering
        self.single = single
        self.replacement = replacement
        self.parameters = parameters
        var texts: [String] = []
        var count = 0
        for parameter in parameters {
            switch parameter {
            case .value:
                count += 1
                texts.append("?\(count)")
            case .column(let column, let shape):
                let offset = count
                let query = Self.replacing(in: shape.flatSQL) { "?\($0 + offset)" }
                let names = (0...column).map { "c\($0)" }.joined(separator: ", ")
                texts.append("(SELECT q.c\(column) FROM (\(query)) AS q (\(names)) LIMIT 1)")
                count += shape.valueCount
            }
        }
        flatSQL = Self.replacing(in: sql) { texts.indices.contains($0 - 1) ? texts[$0 - 1] : "?\($0)" }
        valueCount = count
        // `OFFSET 0` prevents the planner from joining the query with the lists, which could become a scan of a whole
        // table.
        let places = (1...max(1, count)).map { "?\($0)" }.joined(separator: ", ")
        let names = (1...max(1, count)).map { "v\($0)" }.joined(separator: ", ")
        listSQL = """
            SELECT p.place, r.* FROM unnest(\(places)) WITH ORDINALITY AS p (\(names), place)
            CROSS JOIN LATERAL (\(Self.replacing(in: flatSQL) { "p.v\($0)" }) OFFSET 0) AS r
            """
    }

    /// The query in the form in which the write will run it.
    ///
    /// - Parameters:
    ///   - values: the values of the shape.
    ///   - rows: the rows of another query that was read before.
    /// - Returns: `nil` if another query has no row: then the write will not run this one.
    func statement(_ values: ArraySlice<LedgerValue>, rows: (LedgerStatement) -> [LedgerRow]?) -> LedgerStatement? {
        var rest = values
        var resolved: [LedgerValue] = []
        for parameter in parameters {
            switch parameter {
            case .value: if let value = rest.popFirst() { resolved.append(value) }
            case .column(let column, let shape):
                guard let other = shape.statement(rest.prefix(shape.valueCount), rows: rows),
                    let row = rows(other)?.first, row.values.indices.contains(column)
                else { return nil }
                resolved.append(row.values[column])
                rest = rest.dropFirst(shape.valueCount)
            }
        }
        return LedgerStatement(sql, resolved)
    }

    /// SQL with its parameters replaced by other texts.
    static func replacing(in sql: String, _ text: (Int) -> String) -> String {
        var output = ""
        var rest = sql[...]
        while let mark = rest.firstIndex(of: "?") {
            output += rest[..<mark]
            rest = rest[rest.index(after: mark)...]
            let digits = rest.prefix { $0.isNumber }
            output += text(Int(digits) ?? 0)
            rest = rest[digits.endIndex...]
        }
        return output + rest
    }
}
