import EvidenceMint
import Foundation

extension ServiceState {
    /// The number of items of a page.
    static let pageSize = 20

    /// The answer to `GET /inApps/v1/history/{any}` and `GET /inApps/v2/history/{any}`.
    mutating func history(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        let owner = try owner(request.path[0], scope)
        let filter = try HistoryFilter(request)
        let hidesFinished = request.operation == .historyV1
        let all = store.state.transactions.rows(ofGroup: owner).filter { transaction in
            transaction.restoredFrom == nil && filter.admits(transaction)
                && !(hidesFinished && transaction.kind == .consumable && transaction.isFinished)
        }
        let page = try Self.page(
            of: all, revision: request.value("revision"),
            question: [owner, request.operation.rawValue] + filter.question, isDescending: filter.isDescending)
        return ServerAPIAnswer(
            [Claim](["revision": .string(page.revision), "hasMore": .boolean(page.hasMore)]) + scope.claims
                + [Claim("signedTransactions", try signed(page.items, scope))])
    }

    /// The answer to `GET /inApps/v2/refund/lookup/{any}`.
    mutating func refunds(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        let owner = try owner(request.path[0], scope)
        let refunded = store.state.transactions.rows(ofGroup: owner).filter {
            $0.restoredFrom == nil && $0.revocation?.kind == .refund
        }
        let page = try Self.page(
            of: refunded, revision: request.value("revision"), question: [owner, request.operation.rawValue],
            isDescending: false)
        return ServerAPIAnswer([
            "signedTransactions": try signed(page.items, scope), "revision": .string(page.revision),
            "hasMore": .boolean(page.hasMore),
        ])
    }

    /// The answer to `GET /inApps/v1/refund/lookup/{originalTransactionId}`: those that were refunded last.
    mutating func refundsV1(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        let original = try originalTransaction(request.path[0], scope, invalid: .invalidOriginalTransactionID)
        let refunded = store.state.transactions.rows(ofGroup: original.owner).filter {
            $0.restoredFrom == nil && $0.revocation?.kind == .refund
        }.sorted { ($0.revocation?.date ?? .distantPast) > ($1.revocation?.date ?? .distantPast) }
        return ServerAPIAnswer(["signedTransactions": try signed(Array(refunded.prefix(50)), scope)])
    }

    /// A transaction that is the first one of its purchase.
    /// - Throws: `invalid` for another form, 4040005.
    func originalTransaction(
        _ id: String, _ scope: ServerAPIScope, invalid: ServerAPIFailure
    ) throws(ServerAPIFailure) -> StoreTransaction {
        guard Self.isNumber(id) else { throw invalid }
        guard let transaction = found(id, scope), transaction.originalTransactionID == id else {
            throw .unknownOriginalTransactionID
        }
        return transaction
    }

    /// A page of transactions in the order of their last changes. The revision stays valid: later, it yields what
    /// changed since.
    private static func page(
        of transactions: [StoreTransaction], revision: String?, question: [String], isDescending: Bool
    ) throws -> (items: [StoreTransaction], revision: String, hasMore: Bool) {
        var token = try PageToken(
            revision, question: question, or: ServerAPIFailure(4_000_005, "The revision is none of this question."))
        let ordered = transactions.sorted { ($0.lastChange ?? 0) < ($1.lastChange ?? 0) }
        guard isDescending else {
            // Without a revision, transactions of an older version without a number count, too.
            let rest = ordered.filter { revision == nil || ($0.lastChange ?? 0) > token.place }
            let items = Array(rest.prefix(pageSize))
            token.place = max(token.place, items.last?.lastChange ?? 0)
            return (items, try token.text(), rest.count > items.count)
        }
        let isContinued = token.place > 0
        if !isContinued {
            token.floor = token.top
            token.top = max(token.top, ordered.last?.lastChange ?? 0)
        }
        let rest = ordered.reversed().filter { transaction in
            let change = transaction.lastChange ?? 0
            return (change > token.floor || token.floor == 0) && (!isContinued || change < token.place)
        }
        let items = Array(rest.prefix(pageSize))
        let hasMore = rest.count > items.count
        token.place = hasMore ? items.last?.lastChange ?? 0 : 0
        return (items, try token.text(), hasMore)
    }
}

/// The query of the transaction history: several values of a key are alternatives, several keys must all fit.
struct HistoryFilter: Sendable {
    let isDescending: Bool
    /// The query as it must be repeated with a revision.
    let question: [String]
    private let start: Date?
    private let end: Date?
    private let productIDs: [String]
    private let kinds: [StoreProduct.Kind]
    private let ownership: StoreTransaction.Ownership?
    private let groups: [String]
    private let isRevoked: Bool?

    /// - Throws: the failure of the first value of a wrong form.
    init(_ request: ServerAPIRequest) throws(ServerAPIFailure) {
        start = try Self.date(request.value("startDate"), or: ServerAPIFailure(4_000_015, "The start is no time."))
        end = try Self.date(request.value("endDate"), or: ServerAPIFailure(4_000_016, "The end is no time."))
        if let start, let end, start >= end { throw ServerAPIFailure(4_000_016, "The end is not after the start.") }
        let sort = request.value("sort") ?? "ASCENDING"
        guard sort == "ASCENDING" || sort == "DESCENDING" else {
            throw ServerAPIFailure(4_000_021, "The order is ASCENDING or DESCENDING.")
        }
        isDescending = sort == "DESCENDING"
        productIDs = request.values("productId")
        guard productIDs.allSatisfy({ (1...255).contains($0.utf8.count) }) else {
            throw ServerAPIFailure(4_000_023, "A product identifier has a wrong form.")
        }
        var kinds: [StoreProduct.Kind] = []
        for name in request.values("productType") {
            guard let kind = StoreProduct.Kind.allCases.first(where: { $0.queryName == name }) else {
                throw ServerAPIFailure(4_000_022, "There is no such product type.")
            }
            kinds.append(kind)
        }
        self.kinds = kinds
        groups = request.values("subscriptionGroupIdentifier")
        guard groups.allSatisfy({ (1...255).contains($0.utf8.count) }) else {
            throw ServerAPIFailure(4_000_024, "A subscription group identifier has a wrong form.")
        }
        ownership = try request.value("inAppOwnershipType").map { text throws(ServerAPIFailure) in
            guard let ownership = StoreTransaction.Ownership(rawValue: text) else {
                throw ServerAPIFailure(4_000_026, "There is no such ownership type.")
            }
            return ownership
        }
        let excludesRevoked = try Self.boolean(
            request.value("excludeRevoked"), or: ServerAPIFailure(4_000_025, "'excludeRevoked' is true or false."))
        let revoked = try Self.boolean(
            request.value("revoked"), or: ServerAPIFailure(4_000_030, "'revoked' is true or false."))
        isRevoked = revoked ?? (excludesRevoked == true ? false : nil)
        question = request.query.filter { $0.name != "revision" }.map { "\($0.name)=\($0.value)" }.sorted()
    }

    func admits(_ transaction: StoreTransaction) -> Bool {
        (start.map { transaction.purchaseDate >= $0 } ?? true) && (end.map { transaction.purchaseDate < $0 } ?? true)
            && (productIDs.isEmpty || productIDs.contains(transaction.productID))
            && (kinds.isEmpty || kinds.contains(transaction.kind))
            && (ownership.map { $0 == transaction.ownership } ?? true)
            && (groups.isEmpty || transaction.subscriptionGroupID.map { groups.contains($0) } ?? false)
            && (isRevoked.map { $0 == (transaction.revocation != nil) } ?? true)
    }

    /// Milliseconds since 1970.
    static func date(_ text: String?, or failure: ServerAPIFailure) throws(ServerAPIFailure) -> Date? {
        guard let text else { return nil }
        guard let milliseconds = Int64(text), let date = date(milliseconds) else { throw failure }
        return date
    }

    /// - Returns: nil before 1970 or after the year 9000.
    static func date(_ milliseconds: Int64) -> Date? {
        guard (0..<221_845_392_000_000).contains(milliseconds) else { return nil }
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// In small or capital letters: Apple's library for Python writes `True`.
    private static func boolean(_ text: String?, or failure: ServerAPIFailure) throws(ServerAPIFailure) -> Bool? {
        switch text?.lowercased() {
        case nil: nil
        case "true": true
        case "false": false
        default: throw failure
        }
    }
}

extension StoreProduct.Kind {
    /// The name in queries.
    fileprivate var queryName: String {
        switch self {
        case .consumable: "CONSUMABLE"
        case .nonConsumable: "NON_CONSUMABLE"
        case .nonRenewing: "NON_RENEWABLE"
        case .autoRenewable: "AUTO_RENEWABLE"
        }
    }
}
