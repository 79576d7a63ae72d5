/// Columns of text, as wide as their widest cell.
struct TextTable {
    private var rows: [[String]]

    init(_ header: [String]) {
        rows = [header]
    }

    mutating func append(_ row: [String]) {
        rows.append(row)
    }

    /// The table without the columns that hold nothing but dashes.
    func text(indent: Int) -> String {
        let header = rows.first ?? []
        let used = header.indices.filter { column in rows.dropFirst().contains { $0[column] != "-" } }
        let widths = used.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(used, widths).map { column, width in
                row[column] + String(repeating: " ", count: width - row[column].count)
            }
            let line = String(repeating: " ", count: indent) + cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed()) + "\n"
        }.joined()
    }
}
