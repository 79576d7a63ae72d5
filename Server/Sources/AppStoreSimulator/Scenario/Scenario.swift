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

/// One step of a scenario: an action, the name of the purchase that it applies to, and the expected content of its
/// answer.
struct ScenarioStep: Sendable {
    let action: Action
    private let actionName: String
    /// The line of the step in the file.
    let line: Int?
    /// The subject of the step: a purchase by its name, or the fields of the request.
    let subject: Subject
    /// The name under which later steps refer to the purchase that this one makes.
    let name: String?
    /// The expected content of the answer; nil if the request only has to succeed.
    let expected: ScenarioFields?

    enum Subject: Sendable {
        case purchase(String, ScenarioFields?)
        case fields(ScenarioFields)
        case text(String)
    }

    /// The actions, by their names in the file.
    enum Action: Equatable, Sendable {
        case buy
        case send
        case check
        /// Moves the clock by a period, or to a time.
        case advance, time
        /// An action on a transaction or on a subscription, by the last part of its route.
        case transaction(String)
        case subscription(String)
        /// A request to another route of the control API.
        case post(String)

        static let transactions = [
            "finish", "ask-for-refund", "decline-refund", "refund", "refund-seats", "reverse-refund", "share",
            "revoke-sharing",
        ]
        static let subscriptions = [
            "renew", "fail-billing", "enter-grace", "recover", "billing", "cancel", "resume", "extend", "accept-price",
            "change-product", "add-seats", "set-seats", "assign-seat",
        ]
        static let posts = [
            "price": "/control/products/price", "sale": "/control/products/sale",
            "answer-fault": "/control/faults/answers", "evidence-fault": "/control/faults/evidence",
            "server-api-fault": "/control/faults/server-api", "refund-odds": "/control/refund-odds",
            "refresh": "/control/receipts/refresh", "restore": "/control/receipts/restore",
            "extend-all": "/control/products/extend", "notify": "/control/notifications/url",
            "notification": "/control/notifications", "notification-fault": "/control/faults/notifications",
            "deliver": "/control/notifications/deliver",
        ]
        static let all =
            ["buy", "send", "check", "advance", "time"] + transactions + subscriptions + posts.keys.sorted()

        init?(_ name: String) {
            switch name {
            case "buy": self = .buy
            case "send": self = .send
            case "check": self = .check
            case "advance": self = .advance
            case "time": self = .time
            case _ where Self.transactions.contains(name): self = .transaction(name)
            case _ where Self.subscriptions.contains(name): self = .subscription(name)
            default:
                guard let path = Self.posts[name] else { return nil }
                self = .post(path)
            }
        }
    }

    init(_ value: ScenarioValue) throws(ScenarioError) {
        let fields = try ScenarioFields(value, "a step")
        line = fields.line
        let names = fields.names.filter { !["as", "expect"].contains($0) }
        guard let word = names.first, names.count == 1 else {
            throw ScenarioError(
                line, "a step has one action, found \(names.isEmpty ? "none" : names.joined(separator: ", "))")
        }
        guard let action = Action(word) else {
            throw ScenarioError(line, "there is no action '\(word)'; actions are \(Action.all.joined(separator: ", "))")
        }
        (self.action, actionName) = (action, word)
        let value = try fields.require(word)
        subject = try Self.subject(of: action, value, word)
        name = fields["as"]?.scalar
        expected = try fields["expect"].map { value throws(ScenarioError) in try ScenarioFields(value, "expect") }
    }

    var words: String {
        switch subject {
        case .purchase(let name, _): "\(actionName) \(name)"
        case .text(let text): "\(actionName) \(text)"
        case .fields(let fields):
            ([actionName]
                + ["customer_id", "product_id", "type", "subtype", "kind", "url"].compactMap { fields[$0]?.scalar })
                .joined(separator: " ")
        }
    }

    private static func subject(
        of action: Action, _ value: ScenarioValue, _ word: String
    ) throws(ScenarioError) -> Subject {
        switch action {
        case .buy, .post: return .fields(try ScenarioFields(value, word))
        case .advance, .time:
            guard let text = value.scalar else {
                throw ScenarioError(value.line, "write \(word): and a text, such as P1M or 2026-01-31T12:00:00Z")
            }
            return .text(text)
        case .send, .check, .transaction, .subscription:
            if let name = value.scalar { return .purchase(name, nil) }
            let fields = try ScenarioFields(value, word)
            guard let name = fields["purchase"]?.scalar else {
                throw ScenarioError(fields.line, "\(word) has no purchase: the name that 'as' gave it")
            }
            return .purchase(name, fields)
        }
    }
}
