import Yams

/// The fields of a mapping in the file of a scenario.
struct ScenarioFields: Sendable {
    let name: String
    let line: Int?
    private let fields: [(name: String, value: ScenarioValue)]

    init(_ node: Node, _ name: String) throws(ScenarioError) {
        guard let mapping = node.mapping else {
            throw ScenarioError(node.mark?.line, "\(name) is not a mapping; write fields as name: value")
        }
        var fields: [(String, ScenarioValue)] = []
        for (key, value) in mapping {
            guard let field = key.scalar?.string else {
                throw ScenarioError(key.mark?.line, "a field of \(name) has no name; write a word before the colon")
            }
            fields.append((field, try ScenarioValue(value, of: field)))
        }
        (self.name, line, self.fields) = (name, node.mark?.line, fields)
    }

    init(_ value: ScenarioValue, _ name: String) throws(ScenarioError) {
        guard case .fields(let fields) = value.content else {
            throw ScenarioError(value.line, "\(name) is not a mapping; write fields as name: value")
        }
        (self.name, line, self.fields) = (name, fields.line, fields.fields)
    }

    /// The names as written.
    var names: [String] { fields.map(\.name) }

    subscript(_ field: String) -> ScenarioValue? { fields.first { $0.name == field }?.value }

    func require(_ field: String) throws(ScenarioError) -> ScenarioValue {
        guard let value = self[field] else { throw ScenarioError(line, "\(name) has no \(field)") }
        return value
    }

    /// The entries of a list; empty if it is absent.
    func list(_ field: String) throws(ScenarioError) -> [ScenarioValue] {
        guard let value = self[field] else { return [] }
        switch value.content {
        case .null: return []
        case .list(let values): return values
        default: throw ScenarioError(value.line, "\(field) is not a list; begin each entry with '- '")
        }
    }

    /// Refuses unknown fields.
    func check(_ known: [String]) throws(ScenarioError) {
        for (field, value) in fields where !known.contains(field) {
            throw ScenarioError(value.line, UnknownField(field, known: known).words)
        }
    }

    /// The fields as `JSONSerialization` takes them, without some.
    func json(without omitted: Set<String> = []) -> [String: Any] {
        var json: [String: Any] = [:]
        for (field, value) in fields where !omitted.contains(field) { json[field] = value.json }
        return json
    }
}
