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
