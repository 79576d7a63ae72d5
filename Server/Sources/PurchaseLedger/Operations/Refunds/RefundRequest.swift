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
public struct RefundRequestList: LedgerList {
    public var app: String
    public var state: ConsumptionRequestState?
    public var cursor: Int64?
    public var limit: Int

    /// A page of requests.
    public init(app: String, state: ConsumptionRequestState? = nil, before cursor: Int64? = nil, limit: Int = 50) {
        (self.app, self.state, self.cursor, self.limit) = (app, state, cursor, limit)
    }

    public func answer(_ reader: LedgerTransaction) throws -> ListPage<RefundRequest, Int64> {
        try ListOrder<ConsumptionRequestRow, Int64>(
            reader.connection, [ListIndex("app_key = ?1", try reader.app(app).key)], by: ["entry_key"],
            cursor: \.entryKey
        ).page(after: cursor, limit: limit) { state == nil || $0.state(at: reader.now) == state ? $0 : nil }
            .map { try RefundRequest($0, reader) }
    }
}
