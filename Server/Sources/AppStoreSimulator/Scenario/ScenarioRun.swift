import Foundation

/// Runs the steps of a scenario against a store, through its control API.
public struct ScenarioRun: Sendable {
    private let client: AttackClient
    private let address: String

    /// One step that was made.
    public struct Result: Sendable {
        /// The number of the step, from 1; 0 is the preparation.
        public let number: Int
        public let line: Int?
        /// The action and its subject.
        public let step: String
        /// The time of the store afterwards.
        public let time: String
        /// The differences from the expected answer; empty if there are none.
        public let differences: [String]
        /// Each field of the answer to a `check` that expects nothing, as `expect` names it.
        public let fields: [String]
    }

    /// - Parameter store: the address of a simulator, `http://HOST:PORT`.
    /// - Throws: `AttackError.notPlainHTTP`.
    public init(store: String) throws(AttackError) {
        client = try AttackClient(store, timeLimit: .seconds(60))
        address = store
    }

    /// Prepares the store and runs each step. It stops at the first step that the store refuses and that expected no
    /// refusal.
    ///
    /// - Parameters:
    ///   - scenario: the script.
    ///   - report: called after each step.
    /// - Returns: the number of steps whose answers differ.
    /// - Throws: `ScenarioError` for a step that cannot be sent, and for a store that does not answer.
    public func run(_ scenario: Scenario, report: (Result) -> Void) async throws(ScenarioError) -> Int {
        try await prepare(scenario)
        var purchases: [String: Purchase] = [:]
        var wrong = 0
        for (index, step) in scenario.steps.enumerated() {
            let answer = try await answer(to: step, scenario, &purchases)
            if let name = step.name, let purchase = Self.purchase(answer) { purchases[name] = purchase }
            let differences = Self.differences(answer, step)
            if !differences.isEmpty { wrong += 1 }
            report(
                Result(
                    number: index + 1, line: step.line, step: step.words, time: try await now(),
                    differences: differences,
                    fields: step.action == .check && step.expected == nil ? Self.fields(answer.object) : []))
            if step.expected == nil, !differences.isEmpty { break }
        }
        return wrong
    }

    /// A purchase that a step made.
    private struct Purchase {
        let transactionID: String
        let originalTransactionID: String
        let isSubscription: Bool
    }

    private struct Answer {
        let status: Int
        let object: [String: Any]
        let isRefused: Bool
    }

    private func prepare(_ scenario: Scenario) async throws(ScenarioError) {
        if let time = scenario.time { try await mustSucceed("/control/clock", ["time": time, "rate": 0], nil) }
        let app = try await send("POST", "/control/apps", scenario.app.json(), scenario.app.line)
        // A running store may have the app that a scenario only names.
        let isThere = scenario.app.names == ["bundle_id"] && app.object["code"] as? String == "already_exists"
        if app.isRefused, !isThere { throw ScenarioError(scenario.app.line, Self.refusal(app)) }
        for product in scenario.products {
            var fields = product.json()
            if fields["bundle_id"] == nil { fields["bundle_id"] = scenario.bundleID }
            try await mustSucceed("/control/products", fields, product.line)
        }
        for customer in scenario.customers {
            try await mustSucceed("/control/customers", customer.json(), customer.line)
        }
    }

    private func mustSucceed(_ path: String, _ fields: [String: Any], _ line: Int?) async throws(ScenarioError) {
        let answer = try await send("POST", path, fields, line)
        if answer.isRefused { throw ScenarioError(line, Self.refusal(answer)) }
    }

    private func now() async throws(ScenarioError) -> String {
        try await send("GET", "/control/clock", nil, nil).object["now"] as? String ?? ""
    }

    private func answer(
        to step: ScenarioStep, _ scenario: Scenario, _ purchases: inout [String: Purchase]
    ) async throws(ScenarioError) -> Answer {
        switch (step.action, step.subject) {
        case (.buy, .fields(let fields)):
            var values = fields.json()
            if values["bundle_id"] == nil { values["bundle_id"] = scenario.bundleID }
            let answer = try await send("POST", "/control/purchases", values, step.line)
            if step.name == nil, let purchase = Self.purchase(answer) {
                purchases[fields["product_id"]?.scalar ?? ""] = purchase
            }
            return answer
        case (.post(let path), .fields(let fields)):
            var values = fields.json()
            if let name = values.removeValue(forKey: "purchase") as? String {
                values["transaction_id"] = try Self.named(name, purchases, step).transactionID
            }
            let isAboutApp = !["/control/faults", "/control/notifications/"].contains { path.hasPrefix($0) }
            if isAboutApp, values["bundle_id"] == nil { values["bundle_id"] = scenario.bundleID }
            return try await send("POST", path, values, step.line)
        case (.advance, .text(let period)):
            return try await send("POST", "/control/clock", ["advance": period], step.line)
        case (.time, .text(let time)): return try await send("POST", "/control/clock", ["time": time], step.line)
        case (_, .purchase(let name, let fields)):
            return try await answer(
                to: step, try Self.named(name, purchases, step), fields?.json(without: ["purchase"]) ?? [:])
        default: throw ScenarioError(step.line, "the step has the wrong form")
        }
    }

    private static func named(
        _ name: String, _ purchases: [String: Purchase], _ step: ScenarioStep
    ) throws(ScenarioError) -> Purchase {
        guard let purchase = purchases[name] else {
            let known = purchases.keys.sorted().joined(separator: ", ")
            throw ScenarioError(
                step.line, "there is no purchase '\(name)'; purchases so far: \(known.isEmpty ? "none" : known)")
        }
        return purchase
    }

    private func answer(
        to step: ScenarioStep, _ purchase: Purchase, _ fields: [String: Any]
    ) async throws(ScenarioError) -> Answer {
        switch step.action {
        case .transaction(let action):
            return try await send(
                "POST", "/control/transactions/\(purchase.transactionID)/\(action)", fields, step.line)
        case .subscription(let action):
            return try await send(
                "POST", "/control/subscriptions/\(purchase.originalTransactionID)/\(action)", fields, step.line)
        case .check: return try await send("GET", Self.path(purchase), nil, step.line)
        default:
            // The latest period of a subscription, because that is what an app would send.
            let latest = try await send("GET", Self.path(purchase), nil, step.line)
            let id = Self.purchase(latest)?.transactionID ?? purchase.transactionID
            return try await send("POST", "/control/transactions/\(id)/send", fields, step.line)
        }
    }

    private static func path(_ purchase: Purchase) -> String {
        purchase.isSubscription
            ? "/control/subscriptions/\(purchase.originalTransactionID)"
            : "/control/transactions/\(purchase.transactionID)"
    }

    private static func purchase(_ answer: Answer) -> Purchase? {
        guard let transaction = answer.object["transaction"] as? [String: Any],
            let id = transaction["transaction_id"] as? String
        else { return nil }
        return Purchase(
            transactionID: id, originalTransactionID: transaction["original_transaction_id"] as? String ?? id,
            isSubscription: transaction["kind"] as? String == StoreProduct.Kind.autoRenewable.rawValue)
    }

    private func send(
        _ method: String, _ path: String, _ fields: [String: Any]?, _ line: Int?
    ) async throws(ScenarioError) -> Answer {
        do {
            let body = try fields.map { try JSONSerialization.data(withJSONObject: $0) } ?? Data()
            let answer = try await client.request(method, path, [UInt8](body))
            let object = try JSONSerialization.jsonObject(with: answer.body) as? [String: Any]
            return Answer(status: answer.status, object: object ?? [:], isRefused: answer.status >= 400)
        } catch {
            throw ScenarioError(
                line, "the store at \(address) does not answer \(method) \(path): \(NetworkFailure.words(error))")
        }
    }

    /// The expected parts that the answer lacks: it must contain every expected field, and a refusal must be expected
    /// by its code.
    private static func differences(_ answer: Answer, _ step: ScenarioStep) -> [String] {
        guard let expected = step.expected else { return answer.isRefused ? [refusal(answer)] : [] }
        if answer.isRefused, expected["code"] == nil { return [refusal(answer)] }
        return differences(expected.json(), answer.object, path: "")
    }

    private static func differences(_ expected: [String: Any], _ found: [String: Any], path: String) -> [String] {
        var differences: [String] = []
        for (name, value) in expected.sorted(by: { $0.key < $1.key }) {
            if let expected = value as? [String: Any] {
                let inner = found[name] as? [String: Any]
                differences += self.differences(expected, inner ?? [:], path: "\(path)\(name).")
            } else if text(value) != found[name].map(text) {
                let others = "nothing; the fields are \(found.keys.sorted().joined(separator: ", "))"
                differences.append(
                    "\(path)\(name): expected \(text(value)), found \(found[name].map(text) ?? others)")
            }
        }
        return differences
    }

    /// Each field of an answer in a line, such as `subscription.status: active`.
    private static func fields(_ object: [String: Any], path: String = "") -> [String] {
        object.sorted { $0.key < $1.key }.flatMap { name, value -> [String] in
            if let inner = value as? [String: Any] { return fields(inner, path: "\(path)\(name).") }
            // Evidence is longer than a line.
            let shown = text(value)
            return ["\(path)\(name): \(shown.prefix(80))" + (shown.count > 80 ? "…" : "")]
        }
    }

    private static func refusal(_ answer: Answer) -> String {
        let code = answer.object["code"] as? String ?? "status \(answer.status)"
        return "the store refused it: \(code): \(answer.object["detail"] as? String ?? "")"
    }

    /// A value as written in JSON, without the quotes of a string. `true` and `1` differ.
    private static func text(_ value: Any) -> String {
        if let text = value as? String { return text }
        do {
            let json = try JSONSerialization.data(withJSONObject: value, options: [.fragmentsAllowed, .sortedKeys])
            return String(decoding: json, as: UTF8.self)
        } catch {
            // Values come from JSON or from YAML, so this cannot happen.
            return "\(value)"
        }
    }
}
