import EvidenceMint
import Foundation

extension ServiceState {
    /// The number of items of a page.
    static let pageSize = 20

    /// The answer to `GET /inApps/v1/history/{any}` and `GET /inApps/v2/history/{any}`.
    mutating func history(
        _ request: ServerAPIRequest, _ scope: ServerAPIScope, by issuer: EvidenceIssuer
    ) throws -> ServerAPIAnswer {
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
            [Claim("revision", .string(page.revision)), Claim("hasMore", .boolean(page.hasMore))] + scope.claims + [
                Claim("signedTransactions", .array(try page.items.map { .string(try signed($0, by: issuer)) }))
            ])
    }

    /// The answer to `GET /inApps/v2/refund/lookup/{any}`.
    mutating func refunds(
        _ request: ServerAPIRequest, _ scope: ServerAPIScope, by issuer: EvidenceIssuer
    ) throws -> ServerAPIAnswer {
        let owner = try owner(request.path[0], scope)
        let refunded = store.state.transactions.rows(ofGroup: owner).filter {
            $0.restoredFrom == nil && $0.revocation?.kind == .refund
        }
        let page = try Self.page(
            of: refunded, revision: request.value("revision"), question: [owner, request.operation.rawValue],
            isDescending: false)
        return ServerAPIAnswer([
            Claim("signedTransactions", .array(try page.items.map { .string(try signed($0, by: issuer)) })),
            Claim("revision", .string(page.revision)), Claim("hasMore", .boolean(page.hasMore)),
        ])
    }

    /// The answer to `GET /inApps/v1/refund/lookup/{originalTransactionId}`: those that were refunded last.
    mutating func refundsV1(
        _ request: ServerAPIRequest, _ scope: ServerAPIScope, by issuer: EvidenceIssuer
    ) throws -> ServerAPIAnswer {
        let original = try originalTransaction(request.path[0], scope, invalid: .invalidOriginalTransactionID)
        let refunded = store.state.transactions.rows(ofGroup: original.owner).filter {
            $0.restoredFrom == nil && $0.revocation?.kind == .refund
        }.sorted { ($0.revocation?.date ?? .distantPast) > ($1.revocation?.date ?? .distantPast) }
        return ServerAPIAnswer([
            Claim("signedTransactions", .array(try refunded.prefix(50).map { .string(try signed($0, by: issuer)) }))
        ])
    }

    /// A transaction that is the first one of its purchase.
    /// - Throws: `invalid` for another form, 4040005.
    func originalTransaction(
        _ id: String, _ scope: ServerAPIScope, invalid: ServerAPIFailure
    ) throws(ServerAPIFailure) -> StoreTransaction {
        guard Self.isNumber(id) else { throw invalid }
        guard let transaction = store.state.transactions[id], transaction.bundleID == scope.app.bundleID,
            transaction.environment == scope.environment, transaction.originalTransactionID == id
        else { throw .unknownOriginalTransactionID }
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
