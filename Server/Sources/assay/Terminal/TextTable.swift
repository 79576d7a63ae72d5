/// Columns of text, as wide as their widest cell. Text that is too long for people is cut.
struct TextTable {
    private var rows: [[String]]
    /// Nested signed data is long and unreadable. Without a limit, one long cell would widen every row.
    private static let cellLimit = 160
    /// No column is cut to fewer characters.
    private static let smallestWidth = 12

    init(_ header: [String]) {
        rows = [header]
    }

    mutating func append(_ row: [String]) {
        rows.append(row.map(Self.clipped))
    }

    /// Counted in scalars: a single character may be as long as the whole text, with all of its combining marks.
    private static func clipped(_ cell: String) -> String {
        let scalars = cell.unicodeScalars
        guard scalars.count > cellLimit else { return cell }
        return String(scalars.prefix(cellLimit * 3 / 4)) + "…"
    }

    /// The widths of columns. On a terminal, the widest ones but the first are cut until a row fits.
    private func widths(_ columns: [Int], indent: Int) -> [Int] {
        var widths = columns.map { column in rows.map { $0[column].count }.max() ?? 0 }
        guard let limit = Terminal.outputWidth else { return widths }
        var excess = indent + widths.reduce(0, +) + 2 * (widths.count - 1) - limit
        // The first column has the id, which people copy.
        while excess > 0, let widest = widths.dropFirst().max(), widest > Self.smallestWidth,
            let column = widths.dropFirst().firstIndex(of: widest)
        {
            widths[column] -= 1
            excess -= 1
        }
        return widths
    }

    /// The table without the columns that hold nothing but dashes.
    func text(indent: Int) -> String {
        let header = rows.first ?? []
        let used = header.indices.filter { column in rows.dropFirst().contains { $0[column] != "-" } }
        let widths = widths(used, indent: indent)
        return rows.map { row in
            var line = String(repeating: " ", count: indent)
            // Padding comes before the next cell, so that no line ends with it.
            var padding = 0
            for (column, width) in zip(used, widths) {
                let cell = row[column].count > width ? row[column].prefix(width - 1) + "…" : row[column]
                if !cell.isEmpty {
                    line += String(repeating: " ", count: padding) + cell
                    padding = 0
                }
                padding += width - cell.count + 2
            }
            return line + "\n"
        }.joined()
    }
}
