import Foundation
import Yams

/// A file with a script for the store: an app, its products and customers, and steps in order.
///
/// ```yaml
/// time: 2026-01-31T12:00:00Z
/// app: { bundle_id: com.example.app, grace_period_days: 16 }
/// products:
///   - { product_id: gold, kind: auto-renewable, subscription: { group_id: main, period: P1M } }
/// customers:
///   - { customer_id: ada }
/// steps:
///   - buy: { customer_id: ada, product_id: gold }
///     as: membership
///   - advance: P1M
///   - check: membership
///     expect: { subscription: { status: active } }
/// ```
///
/// Fields have the names of the control API, which refuses unknown ones.
public struct Scenario: Sendable {
    /// The largest file: thousands of steps.
    public static let largestBytes = 1 << 20

    let time: String?
    let bundleID: String
    let app: ScenarioFields
    let products: [ScenarioFields]
    let customers: [ScenarioFields]
    let steps: [ScenarioStep]

    /// Reads a file.
    ///
    /// - Throws: `ScenarioError` with the line of the first error.
    public init(yaml text: String) throws(ScenarioError) {
        let root: Node
        do {
            root = try Yams.compose(yaml: text) ?? Node("")
        } catch {
            throw ScenarioError(nil, "not YAML: \(error)")
        }
        let file = try ScenarioFields(root, "the file")
        try file.check(["time", "app", "products", "customers", "steps"])
        app = try ScenarioFields(try file.require("app"), "app")
        guard let bundleID = app["bundle_id"]?.scalar else {
            throw ScenarioError(app.line, "app has no bundle_id")
        }
        self.bundleID = bundleID
        time = file["time"]?.scalar
        var (products, customers, steps) = ([ScenarioFields](), [ScenarioFields](), [ScenarioStep]())
        for value in try file.list("products") { products.append(try ScenarioFields(value, "an entry of products")) }
        for value in try file.list("customers") { customers.append(try ScenarioFields(value, "an entry of customers")) }
        for value in try file.list("steps") { steps.append(try ScenarioStep(value)) }
        guard !steps.isEmpty else { throw ScenarioError(file.line, "the file has no steps") }
        (self.products, self.customers, self.steps) = (products, customers, steps)
    }
}

public struct ScenarioError: Error, Sendable, CustomStringConvertible {
    /// The line, from 1; nil if the error is about the whole file.
    public let line: Int?
    /// The error and what to write instead.
    public let words: String

    init(_ line: Int?, _ words: String) { (self.line, self.words) = (line, words) }

    public var description: String { line.map { "line \($0): \(words)" } ?? words }
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
