import PurchaseVerification

/// Apple's question about the use of a purchase for which its customer asks a refund.
struct ConsumptionRequestRow: TableRow {
    static let table = Table(
        "consumption_requests", key: nil,
        columns: [
            "entry_key", "app_key", "transaction_key", "asked_at", "deadline", "reason", "state", "answer_entry",
            "closed_by", "closed_at", "next_at", "attempts", "leased_until", "answer", "asked",
        ])
    /// How long one server may work on a request, in milliseconds; longer than a call to Apple takes.
    static let lease: Int64 = 300_000

    /// The entry of the notification.
    var entryKey: Int64
    var appKey: Int64
    var transactionKey: Int64
    /// When Apple signed the question.
    var askedAt: Timestamp
    var deadline: Timestamp
    /// The customer's reason (Apple, "consumptionRequestReason").
    var reason: String?
    /// The state; never `expired`, which depends on the time.
    var state: ConsumptionRequestState
    /// The entry of the answer, or of the decision to give none.
    var answerEntry: Int64?
    /// The type of the notification by which Apple decided: `REFUND` or `REFUND_DECLINED`.
    var closedBy: String?
    var closedAt: Timestamp?
    /// When it is looked at again.
    var nextAt: Timestamp
    var attempts: Int64
    var leasedUntil: Timestamp?
    /// The answer that is being sent. After a crash exactly the same one is sent again.
    var answer: [UInt8]?
    /// How many notifications asked the same question.
    var asked: Int64 = 1

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        entryKey = try reader.integer()
        appKey = try reader.integer()
        transactionKey = try reader.integer()
        askedAt = try reader.time()
        deadline = try reader.time()
        reason = try reader.optionalText()
        state = try reader.named(ConsumptionRequestState.self)
        answerEntry = try reader.optionalInteger()
        closedBy = try reader.optionalText()
        closedAt = try reader.optionalTime()
        nextAt = try reader.time()
        attempts = try reader.integer()
        leasedUntil = try reader.optionalTime()
        answer = try reader.optionalBlob()
        asked = try reader.integer()
    }

    /// A new question, which is due at once.
    init(
        entryKey: Int64, appKey: Int64, transactionKey: Int64, askedAt: Timestamp, deadline: Timestamp, reason: String?,
        at now: Timestamp
    ) {
        self.entryKey = entryKey
        self.appKey = appKey
        self.transactionKey = transactionKey
        self.askedAt = askedAt
        self.deadline = deadline
        self.reason = reason
        (state, nextAt, attempts) = (.open, now, 0)
    }

    var values: [LedgerValue] {
        [
            .integer(entryKey), .integer(appKey), .integer(transactionKey), .time(askedAt), .time(deadline),
            .text(reason), .text(state.rawValue), .integer(answerEntry), .text(closedBy), .time(closedAt),
            .time(nextAt), .integer(attempts), .time(leasedUntil), .blob(answer), .integer(asked),
        ]
    }

    /// The state at a time.
    func state(at now: Timestamp) -> ConsumptionRequestState {
        state == .open && deadline <= now ? .expired : state
    }
}
