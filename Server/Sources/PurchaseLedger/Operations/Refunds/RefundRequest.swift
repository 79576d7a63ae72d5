public import PurchaseVerification

public import struct Foundation.UUID

/// A refund request, and what became of it.
public struct RefundRequest: Sendable, Equatable {
    /// The entry of the notification that asked about the purchase.
    public var entryID: UUID
    public var environment: AppStoreEnvironment
    public var transactionID: String
    public var originalTransactionID: String
    public var productID: String?
    /// The present owner, after all merges.
    public var customerID: String?
    /// The customer's reason (Apple, "consumptionRequestReason").
    public var reason: String?
    public var askedAt: Timestamp
    /// How many notifications asked about it.
    public var asked: Int64
    public var deadline: Timestamp
    public var state: ConsumptionRequestState
    /// When Apple took the answer, or when it was decided to send none.
    public var answeredAt: Timestamp?
    /// What was sent.
    public var answer: ConsumptionAnswer?
    /// From what the answer was made.
    public var situation: ConsumptionSituation?
    /// Why nothing was sent, or why Apple refused it.
    public var refusal: String?
    /// Apple's number of the refusal.
    public var number: Int64?
    /// Apple's decision: `REFUND` or `REFUND_DECLINED`.
    public var closedBy: String?
    public var closedAt: Timestamp?

    init(_ row: ConsumptionRequestRow, _ reader: LedgerTransaction) throws(LedgerStorageError) {
        let journal = JournalTable(connection: reader.connection)
        guard let named = try reader.transactions.row(row.transactionKey),
            let entry = try journal.row(key: row.entryKey)
        else { throw LedgerStorageError(.corrupt, "the refund request of entry \(row.entryKey) is about nothing") }
        entryID = entry.id
        environment = try reader.environments.environment(named.environment)
        transactionID = named.transactionID
        originalTransactionID = try OriginalsTable(connection: reader.connection).row(named.originalKey).originalID
        productID = try named.observed(in: environment).productID?.string
        customerID = try named.ownerKey.flatMap { key throws(LedgerStorageError) in
            try reader.customers.surviving(try reader.customers.row(key)).name
        }
        (reason, askedAt, deadline, state) = (row.reason, row.askedAt, row.deadline, row.state(at: reader.now))
        (closedBy, closedAt, asked) = (row.closedBy, row.closedAt, row.asked)
        guard let key = row.answerEntry, let answered = try journal.row(key: key) else { return }
        answeredAt = answered.at
        guard let content = answered.details else { return }
        let details = try ConsumptionAnsweredDetails(encoded: content)
        (answer, situation) = (details.answer, details.situation)
        (refusal, number) = (details.refusal, details.number)
    }
}

/// Refund requests of an app, the newest first.
public struct RefundRequestList: LedgerQuery {
    public static let access = LedgerReadAccess.lists
    /// The maximum number of requests that a page reads. With a state that few have, a page can be shorter than its
    /// limit; the next page continues.
    static let mostRows = 512

    public var app: String
    public var state: ConsumptionRequestState?
    /// The position at which the previous page ended.
    public var before: Int64
    public var limit: Int

    /// A page of requests.
    public init(app: String, state: ConsumptionRequestState? = nil, before: Int64 = .max, limit: Int) {
        self.app = app
        self.state = state
        self.before = before
        self.limit = limit
    }

    /// A page, and the start of the next one; `nil` if this is the last.
    public struct Answer: Sendable {
        public var requests: [RefundRequest]
        public var next: Int64?
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        let count = state == nil ? min(max(1, limit) + 1, Self.mostRows) : Self.mostRows
        let rows = try ConsumptionRequestsTable(connection: reader.connection)
            .page(appKey: app.key, before: before, limit: Int64(count))
        var found: [RefundRequest] = []
        var place = before
        for row in rows {
            guard found.count < max(1, limit) else { return Answer(requests: found, next: place) }
            place = row.entryKey
            if state == nil || row.state(at: reader.now) == state { found.append(try RefundRequest(row, reader)) }
        }
        return Answer(requests: found, next: rows.count < count ? nil : place)
    }
}
