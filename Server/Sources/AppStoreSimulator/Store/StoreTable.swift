/// Rows by their keys. It records which rows changed, so that only those are written.
struct StoreTable<Row: Codable & Equatable & Sendable>: Sendable {
    private var rows: [String: Row]
    /// The keys of rows that were set or removed since the changes were last forgotten.
    private(set) var changedKeys: Set<String> = []

    init(_ rows: [String: Row] = [:]) {
        self.rows = rows
    }

    var count: Int { rows.count }
    var values: Dictionary<String, Row>.Values { rows.values }

    /// The rows in the order of their keys; keys with numbers of different lengths are also in numeric order.
    var sorted: [Row] { sorted { _ in true } }

    /// The matching rows in the same order. Only they are sorted, because sorting all rows costs more than checking
    /// each.
    func sorted(where isIncluded: (Row) -> Bool) -> [Row] {
        rows.filter { isIncluded($0.value) }
            .sorted { ($0.key.utf8.count, $0.key) < ($1.key.utf8.count, $1.key) }.map(\.value)
    }

    subscript(key: String) -> Row? {
        get { rows[key] }
        set {
            rows[key] = newValue
            changedKeys.insert(key)
        }
    }

    mutating func removeAll() {
        changedKeys.formUnion(rows.keys)
        rows.removeAll()
    }

    mutating func forgetChanges() {
        changedKeys.removeAll()
    }
}
