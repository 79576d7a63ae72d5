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
