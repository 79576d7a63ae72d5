import Yams

/// A value in the file of a scenario, with its line.
struct ScenarioValue: Sendable {
    let content: Content
    let line: Int?

    enum Content: Sendable {
        case null
        case boolean(Bool)
        case integer(Int)
        case number(Double)
        case text(String)
        case list([ScenarioValue])
        case fields(ScenarioFields)
    }

    init(_ node: Node) throws(ScenarioError) {
        line = node.mark?.line
        if let sequence = node.sequence {
            var list: [ScenarioValue] = []
            for node in sequence { list.append(try ScenarioValue(node)) }
            content = .list(list)
        } else if node.mapping != nil {
            content = .fields(try ScenarioFields(node, "a mapping"))
        } else if node.null != nil {
            content = .null
        } else if let boolean = node.bool {
            content = .boolean(boolean)
        } else if let integer = node.int {
            content = .integer(integer)
        } else if let number = node.float, number.isFinite {
            content = .number(number)
        } else {
            content = .text(node.scalar?.string ?? "")
        }
        scalar = node.scalar?.string
    }

    /// The text of a scalar, unchanged; nil for lists and mappings.
    let scalar: String?

    /// The value as `JSONSerialization` takes it.
    var json: Any? {
        switch content {
        case .null: nil
        case .boolean(let value): value
        case .integer(let value): value
        case .number(let value): value
        case .text(let value): value
        case .list(let values): values.compactMap(\.json)
        case .fields(let fields): fields.json()
        }
    }
}

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
            fields.append((field, try ScenarioValue(value)))
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
