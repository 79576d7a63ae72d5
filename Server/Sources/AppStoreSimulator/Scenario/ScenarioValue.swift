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

    /// Reads a scalar as settings do: an id is its text, numbers are decimal and flags are `true` or `false`.
    ///
    /// - Parameter field: the name of the field, which says whether it is an id.
    init(_ node: Node, of field: String = "") throws(ScenarioError) {
        line = node.mark?.line
        scalar = node.scalar?.string
        if let sequence = node.sequence {
            var list: [ScenarioValue] = []
            for node in sequence { list.append(try ScenarioValue(node, of: field)) }
            content = .list(list)
            return
        }
        guard let text = scalar else {
            content = .fields(try ScenarioFields(node, "a mapping"))
            return
        }
        let isPlain = [.any, .plain].contains(node.scalar?.style)
        if node.null != nil {
            content = .null
        } else if isPlain, text == "true" || text == "false" {
            content = .boolean(text == "true")
        } else if node.int == nil, node.float?.isFinite != true {
            content = .text(text)
        } else if !Self.isDecimal(text) {
            throw ScenarioError(
                line, "\(field.isEmpty ? "" : "\(field): ")\(text) is not a decimal number; quote a text: \"\(text)\"")
        } else if Self.isID(field) {
            content = .text(text)
        } else if let integer = Int(text) {
            content = .integer(integer)
        } else {
            content = .number(node.float ?? 0)
        }
    }

    /// Whether a field is a text that may consist of digits. The number of an app is the only id that is a number.
    private static func isID(_ field: String) -> Bool {
        field == "purchase" || field.hasSuffix("_id") && field != "app_id"
    }

    /// Whether a text is a number as JSON writes it (RFC 8259, 6): YAML also has octal (`010`), hexadecimal and
    /// sexagesimal numbers, and underscores in them.
    private static func isDecimal(_ text: String) -> Bool {
        text.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/) != nil
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
