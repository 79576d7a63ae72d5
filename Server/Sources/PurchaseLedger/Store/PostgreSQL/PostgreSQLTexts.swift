/// The parsed texts of statements. There are few texts, and each is parsed once per connection.
final class PostgreSQLTexts {
    /// One parsed text.
    final class Text {
        /// Whether the statement only reads.
        let isQuery: Bool
        /// The table whose rows it changes.
        let changedTable: String?
        /// An insertion of values in the order of the columns.
        let insertion: PostgreSQLInsertion?
        /// The names that it contains.
        private let words: Set<Substring>
        let sql: String

        fileprivate init(_ sql: String) {
            self.sql = sql
            let words = sql.split { !($0.isLetter || $0.isNumber || $0 == "_" || $0 == "?") }
            self.words = Set(words)
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
