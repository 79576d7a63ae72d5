public import PurchaseAPI
public import PurchaseVerification

/// A refund request, and what became of it.
public struct RefundRequest: Sendable, Equatable {
    public var message: RefundRequestMessage
    public let askedAt: Timestamp
    /// What was sent, and from what it was made: for other policies.
    public private(set) var answer: ConsumptionAnswer?
    public private(set) var situation: ConsumptionSituation?

    init(_ row: ConsumptionRequestRow, _ reader: LedgerTransaction) throws(LedgerStorageError) {
        let journal = JournalTable(connection: reader.connection)
        guard let named = try reader.transactions.row(row.transactionKey),
            let entry = try journal.row(key: row.entryKey)
        else { throw LedgerStorageError(.corrupt, "the refund request of entry \(row.entryKey) is about nothing") }
        let environment = try reader.environments.environment(named.environment)
        message = RefundRequestMessage(
            entryID: entry.id.text, environment: EnvironmentName(environment), transactionID: named.transactionID,
            originalTransactionID: try OriginalsTable(connection: reader.connection).row(named.originalKey).originalID,
            askedAt: "\(row.askedAt)", asked: row.asked, deadline: "\(row.deadline)",
            state: row.state(at: reader.now).rawValue)
        askedAt = row.askedAt
        message.productID = try named.observed(in: environment).productID?.string
        message.customerID = try named.ownerKey.flatMap { key throws(LedgerStorageError) in
            try reader.customers.surviving(try reader.customers.row(key)).name
        }
        (message.reason, message.closedBy) = (row.reason, row.closedBy)
        message.closedAt = row.closedAt.map { "\($0)" }
        guard let key = row.answerEntry, let answered = try journal.row(key: key) else { return }
        message.answeredAt = "\(answered.at)"
        guard let content = answered.details else { return }
        let details = try ConsumptionAnsweredDetails(encoded: content)
        (answer, situation) = (details.answer, details.situation)
        message.answer = answer.map { answer in
            let measured = answer.percentage != nil && answer.isDelivered ? details.situation : nil
            return RefundRequestMessage.Answer(
                delivered: answer.isDelivered, consumptionPercentage: answer.percentage,
                refundPreference: answer.preference == .none ? nil : answer.preference.rawValue,
                sampleContentProvided: answer.providesSample, quantity: measured?.quantity, used: measured?.used)
        }
        (message.refusal, message.appStoreNumber) = (details.refusal, details.number)
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
