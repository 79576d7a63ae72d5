import HTTPTypes
import Hummingbird
import PurchaseAPI

/// Notes parameters of the query that a route of `/v1` does not have, and repeated ones: a filter that is ignored would
/// give another answer than the one that was asked for. The route refuses them once it knows that the key has its scope
/// (`requireCaller`).
struct QueryMiddleware: RouterMiddleware {
    /// The parameters of each route that has any.
    static let parameters: [String: [String]] = [
        "GET /v1/orders": ["status", "customer_id", "limit", "cursor"],
        "GET /v1/purchases": ["owner", "environment", "product_id", "limit", "cursor"],
        "GET /v1/customers/{id}/purchases": ["limit", "cursor"],
        "GET /v1/customers/{id}/entitlements": ["environment", "at"],
        "GET /v1/customers/{id}/timeline": ["limit", "cursor"],
        "GET /v1/submissions": [
            "customer_id", "order_id", "transaction_id", "verdict", "code", "app_store", "from", "to", "limit",
            "cursor",
        ],
        "GET /v1/events": ["customer_id", "order_id", "transaction_id", "limit", "cursor"],
        "GET /v1/notifications": ["customer_id", "transaction_id", "type", "subtype", "limit", "cursor"],
        "GET /v1/subscriptions/{id}/seats": ["environment", "limit", "cursor"],
        "DELETE /v1/subscriptions/{id}/seats/{seat}": ["environment"],
        "GET /v1/refund_requests": ["state", "limit", "cursor"],
        "GET /v1/external-purchases": ["state", "limit", "cursor"],
        "GET /v1/subscriptions/{id}/extensions": ["environment", "limit"],
        "GET /v1/customers/{id}/subscriptions": ["refresh"],
        "GET /v1/products": ["limit", "cursor"],
        "GET /v1/testers": ["limit", "cursor"],
        "DELETE /v1/testers/{id}": ["reason"],
        "DELETE /v1/customers/{id}/grants/{act}": ["reason"],
        "DELETE /v1/customers/{id}/revocations/{act}": ["reason"],
    ]
    /// The longest name that a problem repeats, in bytes.
    private static let shownBytes = 64

    func handle(
        _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        guard let query = request.uri.query, !query.isEmpty else { return try await next(request, context) }
        let known = Self.parameters["\(request.method.rawValue) \(context.endpointPath ?? "")"] ?? []
        var read: [Substring.UTF8View] = []
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            let isKnown = known.contains { $0.utf8.elementsEqual(name) }
            guard !isKnown || read.contains(where: { $0.elementsEqual(name) }) else {
                read.append(name)
                continue
            }
            var refusing = context
            refusing.parameterProblem = isKnown ? Self.repeated(name) : Self.unknown(name, known)
            return try await next(request, refusing)
        }
        return try await next(request, context)
    }

    private static func repeated(_ name: Substring.UTF8View) -> Problem {
        Problem(
            .badRequest, "parameter_repeated", "The query has a parameter more than once.",
            expected: "each parameter once", found: String(decoding: name, as: UTF8.self))
    }

    private static func unknown(_ name: Substring.UTF8View, _ known: [String]) -> Problem {
        let shown = String(decoding: name.prefix(shownBytes), as: UTF8.self)
        let meant = WordSuggestion.nearest(to: shown, among: known)
        return Problem(
            .badRequest, "parameter_unknown",
            "The query has a parameter that this route does not have."
                + (meant.map { " Did you mean '\($0)'?" } ?? ""),
            expected: known.isEmpty ? "no parameters" : known.joined(separator: ", "), found: shown)
    }
}

extension Problem {
    /// A member of a body that the request does not have.
    init(_ member: RequestMembers.UnknownMember) {
        self.init(
            .badRequest, Self.fieldUnknown, member.sentence, expected: member.suggestion, found: member.name)
    }

    fileprivate static let fieldUnknown = "field_unknown"
}

extension WarningMessage {
    /// A member of a body that was ignored.
    init(ignored member: RequestMembers.UnknownMember) {
        self.init(code: Problem.fieldUnknown, detail: member.sentence + " It was ignored.", found: member.name)
    }

    /// The warnings about a request; `nil` if there are none.
    ///
    /// - Parameter counted: the number of refusals that are counted and not recorded one by one.
    static func about(_ members: [RequestMembers.UnknownMember], counted: Int = 0) -> [WarningMessage]? {
        let warnings =
            members.map(WarningMessage.init(ignored:)) + (counted > 0 ? [WarningMessage(counted: counted)] : [])
        return warnings.isEmpty ? nil : warnings
    }

    private init(counted: Int) {
        self.init(
            code: "refusals_counted",
            detail:
                "Today's budget for refused evidence is used up (unverified_evidence), so this refusal has no submission of "
                + "its own: it counts in the next entry of the key's refusals.",
            found: "\(counted)")
    }
}

extension RequestMembers.UnknownMember {
    fileprivate var sentence: String {
        "The field '\(name)' is unknown" + (suggestion.map { "; did you mean '\($0)'?" } ?? ".")
    }
}
