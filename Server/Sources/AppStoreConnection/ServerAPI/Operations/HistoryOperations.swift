// The histories of a customer, and the order of a mail.

public import PurchaseVerification

/// One page of a customer's transactions (Apple, "Get Transaction History"), sorted by the time of their last change.
///
/// A transaction that changes while its pages are read comes twice. Each page has a `revision`, with which the next one
/// is read; that of the last page yields what changed since.
public struct GetTransactionHistory: PagedOperation {
    /// A page has 20 transactions. The longest known history of a customer has some thousand.
    public static var mostPages: Int { 1000 }

    /// A transaction id, an original transaction id or an app transaction id.
    public var id: String
    /// The revision of the page before; `nil` for the first page.
    public var revision: String?
    public var filter: Filter

    public init(_ id: String, revision: String? = nil, filter: Filter = Filter()) {
        self.id = id
        self.revision = revision
        self.filter = filter
    }

    /// The wanted transactions. Each page of a history has the same.
    public struct Filter: Sendable, Equatable {
        /// In milliseconds since 1970.
        public var startDate: Int64?
        /// In milliseconds since 1970.
        public var endDate: Int64?
        public var productIDs: [String] = []
        /// `AUTO_RENEWABLE`, `NON_RENEWABLE`, `CONSUMABLE`, `NON_CONSUMABLE`.
        public var productTypes: [String] = []
        public var ownershipType: OwnershipType?
        public var isDescending = false
        public var isRevoked: Bool?
        public var subscriptionGroups: [String] = []

        public init() {}
    }

    public var place: String? {
        get { revision }
        set { revision = newValue }
    }

    public var request: AppStoreServerRequest {
        var request = AppStoreServerRequest(.get, ["inApps", "v2", "history", id])
        var query: [(String, String)] = []
        if let revision { query.append(("revision", revision)) }
        if let date = filter.startDate { query.append(("startDate", "\(date)")) }
        if let date = filter.endDate { query.append(("endDate", "\(date)")) }
        query += filter.productIDs.map { ("productId", $0) } + filter.productTypes.map { ("productType", $0) }
        if let type = filter.ownershipType { query.append(("inAppOwnershipType", type.rawValue)) }
        if filter.isDescending { query.append(("sort", "DESCENDING")) }
        if let isRevoked = filter.isRevoked { query.append(("revoked", "\(isRevoked)")) }
        query += filter.subscriptionGroups.map { ("subscriptionGroupIdentifier", $0) }
        request.query = query
        return request
    }

    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> TransactionHistoryPage {
        try reply.historyPage()
    }
}

/// One page of a customer's refunds (Apple, "Get Refund History").
public struct GetRefundHistory: AppStoreServerOperation {
    public static var callsPerSecond: Double { 10 }

    /// A transaction id, an original transaction id or an app transaction id.
    public var id: String
    public var revision: String?

    public init(_ id: String, revision: String? = nil) {
        self.id = id
        self.revision = revision
    }

    public var request: AppStoreServerRequest {
        var request = AppStoreServerRequest(.get, ["inApps", "v2", "refund", "lookup", id])
        if let revision { request.query = [("revision", revision)] }
        return request
    }

    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> TransactionHistoryPage {
        try reply.historyPage()
    }
}

/// The fifty latest refunds of a customer (Apple, "Get Refund History V1"), which Apple has replaced.
public struct GetLatestRefunds: AppStoreServerOperation {
    public static var callsPerSecond: Double { 10 }

    public var originalTransactionID: String

    public init(_ originalTransactionID: String) { self.originalTransactionID = originalTransactionID }

    public var request: AppStoreServerRequest {
        AppStoreServerRequest(.get, ["inApps", "v1", "refund", "lookup", originalTransactionID])
    }

    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> TransactionHistoryPage {
        try reply.historyPage()
    }
}

/// A page of transactions.
public struct TransactionHistoryPage: AppStorePage {
    public let transactions: [TransactionJWS]
    /// For the next page, and after the last one for what changed since.
    public let revision: String?
    public let hasMore: Bool

    public var next: String? { hasMore ? revision : nil }

    /// Whether one of the transactions has this id, as its own, its original's or its app transaction's. Apple signs no
    /// statement of whom a page is about; only a complete history can be compared with the id that was asked.
    public func concerns(_ id: String) -> Bool {
        transactions.contains {
            $0.content.transactionID == id || $0.content.originalTransactionID == id
                || $0.content.appTransactionID == id
        }
    }
}

/// The purchases of an order by the number in the customer's mail (Apple, "Look Up Order ID"). Only production knows
/// orders. Apple signs no order number, so an answer of another order of the app cannot be told apart.
public struct LookUpOrder: AppStoreServerOperation {
    public static var callsPerSecond: Double { 10 }
    public static var place: AppStoreServerPlace { .only(.production) }

    public var orderID: String

    public init(_ orderID: String) { self.orderID = orderID }

    public var request: AppStoreServerRequest { AppStoreServerRequest(.get, ["inApps", "v1", "lookup", orderID]) }

    /// - Returns: the transactions of the order; `nil` for an order that Apple does not know in this app.
    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> [TransactionJWS]? {
        let body = try reply.decoded(OrderBody.self)
        guard body.status == 0 else { return nil }
        return try reply.transactions(body.signedTransactions ?? [])
    }
}

extension AppStoreServerReply {
    fileprivate func historyPage() throws(AppStoreServerReplyFault) -> TransactionHistoryPage {
        let body = try decoded(HistoryBody.self)
        try require(bundleID: body.bundleId, environment: body.environment)
        guard let hasMore = body.hasMore else { throw .unreadable("no hasMore") }
        guard !hasMore || body.revision != nil else { throw .unreadable("more pages, and no revision") }
        return TransactionHistoryPage(
            transactions: try transactions(body.signedTransactions ?? []), revision: body.revision, hasMore: hasMore)
    }

    fileprivate func transactions(_ texts: [String]) throws(AppStoreServerReplyFault) -> [TransactionJWS] {
        try require(entries: texts.count)
        var transactions: [TransactionJWS] = []
        for text in texts { transactions.append(try transaction(text)) }
        return transactions
    }
}

private struct HistoryBody: Decodable {
    let revision: String?
    let hasMore: Bool?
    let bundleId: String?
    let environment: String?
    let signedTransactions: [String]?
}

private struct OrderBody: Decodable {
    let status: Int64
    let signedTransactions: [String]?
}
