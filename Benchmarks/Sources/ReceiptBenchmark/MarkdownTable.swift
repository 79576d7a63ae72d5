/// A table of Markdown: the first column is text, the others are numbers.
struct MarkdownTable {
    private var rows: [[String]]

    init(_ header: [String]) { rows = [header] }

    mutating func append(_ row: [String]) { rows.append(row) }

    var text: String {
        let columns = rows[0].count
        let widths = (0..<columns).map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = rows.map { row in
            "| "
                + row.indices.map { column in
                    let padding = String(repeating: " ", count: widths[column] - row[column].count)
                    return column == 0 ? row[column] + padding : padding + row[column]
                }.joined(separator: " | ") + " |"
        }
        let rule = widths.enumerated().map { column, width in
            String(repeating: "-", count: width + 1) + (column == 0 ? "-" : ":")
        }
        lines.insert("|" + rule.joined(separator: "|") + "|", at: 1)
        return lines.joined(separator: "\n")
    }
}

extension BinaryFloatingPoint {
    /// With this many decimal places.
    func text(_ digits: Int = 0) -> String {
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        let scaled = (Double(self) * scale).rounded()
        guard scaled.isFinite, abs(scaled) < 1e15 else { return "-" }
        let (whole, fraction) = Int(abs(scaled)).quotientAndRemainder(dividingBy: Int(scale))
        let sign = scaled < 0 ? "-" : ""
        guard digits > 0 else { return "\(sign)\(whole)" }
        let padding = String(repeating: "0", count: digits - "\(fraction)".count)
        return "\(sign)\(whole).\(padding)\(fraction)"
    }
}
