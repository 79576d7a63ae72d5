/// Rows by their keys. It records which rows changed, so that only those are written.
struct StoreTable<Row: Codable & Equatable & Sendable>: Sendable {
    private var rows: [String: Row]
    /// The keys of rows that were set or removed since the changes were last forgotten.
    private(set) var changedKeys: Set<String> = []
    /// The keys of the rows of each group, in the order in which they came; empty without groups.
    private var groups: [String: [String]] = [:]
    private let group: (@Sendable (Row) -> String)?

    /// - Parameter group: the group of a row, which never changes; nil for a table without groups.
    init(_ rows: [String: Row] = [:], groupedBy group: (@Sendable (Row) -> String)? = nil) {
        self.rows = rows
        self.group = group
        guard let group else { return }
        for (key, row) in rows.sorted(by: { ($0.key.utf8.count, $0.key) < ($1.key.utf8.count, $1.key) }) {
            groups[group(row), default: []].append(key)
        }
    }

    /// The rows of a group, in the order in which they came.
    func rows(ofGroup name: String) -> [Row] {
        (groups[name] ?? []).compactMap { rows[$0] }
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
            let earlier = rows.updateOrRemove(newValue, forKey: key)
            changedKeys.insert(key)
            guard let group, (earlier == nil) != (newValue == nil) else { return }
            if let newValue {
                groups[group(newValue), default: []].append(key)
            } else if let earlier {
                groups[group(earlier)]?.removeAll { $0 == key }
            }
        }
    }

    mutating func removeAll() {
        changedKeys.formUnion(rows.keys)
        rows.removeAll()
        groups.removeAll()
    }

    mutating func forgetChanges() {
        changedKeys.removeAll()
    }
}

extension Dictionary {
    /// Sets a value, or removes it if it is nil.
    /// - Returns: the value before.
    fileprivate mutating func updateOrRemove(_ value: Value?, forKey key: Key) -> Value? {
        guard let value else { return removeValue(forKey: key) }
        return updateValue(value, forKey: key)
    }
}
