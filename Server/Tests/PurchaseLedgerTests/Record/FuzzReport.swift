/// The result of each change of a fuzzed column.
struct FuzzReport {
    /// `table.column`, or `table.*`.
    let exceptions: Set<String>
    private var cells: [String: Cell] = [:]
    private var used: Set<String> = []

    private struct Cell {
        var named: [String: Int] = [:]
        var refused = 0
        var unnamed: [String] = []
    }

    init(exceptions: Set<String>) {
        self.exceptions = exceptions
    }

    /// Adds a change.
    ///
    /// - Parameter findings: the codes that the audit reported; `nil` if the schema refused the change.
    mutating func add(_ table: String, _ column: String, _ findings: Set<String>?, _ sql: String) {
        let place = "\(table).\(column)"
        guard let findings else {
            cells[place, default: Cell()].refused += 1
            return
        }
        if findings.isEmpty {
            cells[place, default: Cell()].unnamed.append(sql)
            used.formUnion([place, "\(table).*"])
        }
        for finding in findings { cells[place, default: Cell()].named[finding, default: 0] += 1 }
    }

    /// The changes that were not reported, and are not in the list.
    var missed: [String] {
        cells.filter { !exceptions.contains($0.key) && !exceptions.contains($0.key.prefix { $0 != "." } + ".*") }
            .flatMap { place, cell in cell.unnamed.map { "\(place): \($0)" } }.sorted()
    }

    /// The exceptions that were not needed.
    var unused: [String] { exceptions.subtracting(used).sorted() }

    /// A table for readers.
    var text: String {
        let lines = cells.sorted { $0.key < $1.key }.map { place, cell in
            let named = cell.named.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
                .map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            let parts = [
                named.isEmpty ? nil : named, cell.refused > 0 ? "refused by the schema \(cell.refused)" : nil,
                cell.unnamed.isEmpty ? nil : "not named \(cell.unnamed.count)",
            ]
            return "| \(place) | \(parts.compactMap(\.self).joined(separator: "; ")) |"
        }
        let changes = cells.values.reduce(0) { $0 + $1.unnamed.count + $1.refused }
        return (["| changed | what the audit named |", "|---|---|"] + lines).joined(separator: "\n")
            + "\n\(cells.count) columns and kinds of change, \(changes) changes refused or not named\n"
    }
}
