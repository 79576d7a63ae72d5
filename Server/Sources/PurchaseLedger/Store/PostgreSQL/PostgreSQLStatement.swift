/// A statement as a session sends it. A parameter can be a list, which portable SQL does not have.
struct PostgreSQLStatement {
    /// Portable SQL.
    var sql: String
    var parameters: [Parameter]

    enum Parameter {
        case value(LedgerValue)
        /// Values of one type, without null unless another one shows the type.
        case list([LedgerValue])
    }

    init(_ sql: String, _ parameters: [Parameter]) {
        (self.sql, self.parameters) = (sql, parameters)
    }

    init(_ sql: String, _ values: [LedgerValue]) {
        (self.sql, parameters) = (sql, values.map(Parameter.value))
    }

    init(_ statement: LedgerStatement) { self.init(statement.sql, statement.parameters) }
}

/// What the text of a statement says. Texts are few, and each is read once for a connection.
final class PostgreSQLTexts {
    /// What one text says.
    final class Text {
        /// Whether it only reads.
        let isQuery: Bool
        /// The table whose rows it changes.
        let changedTable: String?
        /// An insertion of values in the order of the columns.
        let insertion: PostgreSQLInsertion?
        /// The names in it.
        private let words: Set<Substring>
        /// The query for lists of values.
        private(set) lazy var listShape = ReadShape(sql, (0..<parameterCount).map { _ in .value })
        private let sql: String
        private let parameterCount: Int

        fileprivate init(_ sql: String) {
            self.sql = sql
            let words = sql.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "?") }
            self.words = Set(words)
            parameterCount = words.compactMap { $0.first == "?" ? Int($0.dropFirst()) : nil }.max() ?? 0
            isQuery = words.first == "SELECT"
            switch words.first {
            case "INSERT", "DELETE": changedTable = words.dropFirst(2).first.map(String.init)
            case "UPDATE": changedTable = words.dropFirst().first.map(String.init)
            default: changedTable = nil
            }
            insertion = PostgreSQLInsertion(sql)
        }

        /// Whether it reads or changes one of these tables.
        func names(_ tables: Set<String>) -> Bool { tables.contains { words.contains($0[...]) } }
    }

    private var texts: [String: Text] = [:]

    subscript(_ sql: String) -> Text {
        if let text = texts[sql] { return text }
        let text = Text(sql)
        // Statements with lists of parameters have many texts.
        if texts.count >= 1024 { texts = [:] }
        texts[sql] = text
        return text
    }
}

/// An insertion of values: `INSERT INTO table (columns) VALUES (?1, ?2…)`, and what happens on a conflict.
final class PostgreSQLInsertion {
    let table: String
    let columns: [String]
    /// What follows the values, without parameters.
    let tail: String
    /// The columns of a conflict that has an answer, by their places.
    let conflict: [Int]

    /// - Returns: `nil` for any other statement.
    init?(_ sql: String) {
        let start = "INSERT INTO "
        guard sql.hasPrefix(start), let open = sql.firstIndex(of: "("), let close = sql.firstIndex(of: ")"), open < close
        else { return nil }
        let columns = sql[sql.index(after: open)..<close].split(separator: ",").map(\.trimmingSpaces)
        let places = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let values = "VALUES (\(places))"
        let rest = sql[sql.index(after: close)...].trimmingSpaces
        guard rest.hasPrefix(values) else { return nil }
        let tail = rest.dropFirst(values.count).trimmingSpaces
        guard !tail.contains("?"), !tail.contains("RETURNING") else { return nil }
        var names: [String] = []
        if !tail.isEmpty {
            guard tail.hasPrefix("ON CONFLICT ("), let end = tail.firstIndex(of: ")") else { return nil }
            names = tail[..<end].dropFirst("ON CONFLICT (".count).split(separator: ",").map(\.trimmingSpaces)
        }
        let conflict = names.compactMap { columns.firstIndex(of: $0) }
        guard conflict.count == names.count else { return nil }
        table = sql[..<open].dropFirst(start.count).trimmingSpaces
        (self.columns, self.tail, self.conflict) = (columns, tail, conflict)
    }

    /// The same with a key that is known already.
    func withKey(_ key: String) -> String {
        let places = (1...columns.count + 1).map { "?\($0)" }.joined(separator: ", ")
        return "INSERT INTO \(table) (\((columns + [key]).joined(separator: ", "))) VALUES (\(places))"
    }

    /// The same for several rows.
    ///
    /// - Parameters:
    ///   - rows: at least one.
    ///   - isCounted: whether the statement fails on the server if it leaves out a row.
    func statement(_ rows: [[LedgerValue]], isCounted: Bool) -> PostgreSQLStatement {
        var lists: [PostgreSQLStatement.Parameter] = []
        var names: [String] = []
        var columns: [String] = []
        for place in self.columns.indices {
            let list = rows.map { $0[place] }
            guard list.contains(where: { $0 != .null }) else {
                // Nothing tells the type of a list of nulls.
                columns.append("NULL")
                continue
            }
            lists.append(.list(list))
            names.append("v\(lists.count)")
            columns.append("v\(lists.count)")
        }
        let places = lists.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let insertion = """
            INSERT INTO \(table) (\(self.columns.joined(separator: ", "))) SELECT \(columns.joined(separator: ", "))
            FROM unnest(\(places)) AS p (\(names.joined(separator: ", "))) \(tail)
            """
        guard isCounted else { return PostgreSQLStatement(insertion, lists) }
        return PostgreSQLStatement(
            Self.counted(insertion, rows: "?\(lists.count + 1)"), lists + [.value(.integer(Int64(rows.count)))])
    }

    /// A statement that fails on the server, by a division by zero, unless it changes a number of rows. So a later `COMMIT` of the
    /// same round trip is not executed.
    static func counted(_ statement: String, rows: String) -> String {
        """
        WITH changed AS (\(statement) RETURNING 1)
        SELECT 1 / (CASE WHEN count(*) = \(rows) THEN 1 ELSE 0 END) FROM changed
        """
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String {
        String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
}
