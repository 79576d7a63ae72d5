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

/// An error in a scenario file.
public struct ScenarioError: Error, Sendable, CustomStringConvertible {
    /// The line, from 1; nil if the error is about the whole file.
    public let line: Int?
    /// The error and what to write instead.
    public let words: String

    init(_ line: Int?, _ words: String) {
        (self.line, self.words) = (line, words)
    }

    public var description: String { line.map { "line \($0): \(words)" } ?? words }
}
