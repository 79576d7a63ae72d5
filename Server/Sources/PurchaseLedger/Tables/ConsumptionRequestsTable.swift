import PurchaseVerification

struct ConsumptionRequestsTable {
    private static let name = "consumption_requests"

    let connection: any LedgerConnection

    func row(_ entry: Int64) throws(LedgerStorageError) -> ConsumptionRequestRow? {
        try ConsumptionRequestRow.first("WHERE entry_key = ?1", [.integer(entry)], connection)
    }

    /// Adds a question, whose answer is due at once.
    func insert(_ row: ConsumptionRequestRow, at now: Timestamp) throws(LedgerStorageError) {
        try connection.insert(ConsumptionRequestRow.table.insertion, row.values)
        try WorkTable(connection: connection).schedule(row.work, at: now, since: row.askedAt)
    }

    /// Counts a notification that asks the same question again.
    func count(_ entry: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: Self.name, "UPDATE consumption_requests SET asked = asked + 1 WHERE entry_key = ?1", [.integer(entry)])
    }

    /// The questions about a transaction, the oldest first.
    func rows(transaction: Int64) throws(LedgerStorageError) -> [ConsumptionRequestRow] {
        try ConsumptionRequestRow.all(
            "WHERE transaction_key = ?1 ORDER BY asked_at, entry_key", [.integer(transaction)], connection)
    }

    /// Ends the work on a question.
    func finish(
        _ row: ConsumptionRequestRow, _ state: ConsumptionRequestState, answer: Int64
    ) throws(LedgerStorageError) {
        try connection.send(
            to: Self.name, "UPDATE consumption_requests SET state = ?2, answer_entry = ?3 WHERE entry_key = ?1",
            [.integer(row.entryKey), .text(state.rawValue), .integer(answer)])
        try WorkTable(connection: connection).delete(row.work)
    }

    /// Notes Apple's decision about the refund.
    func close(_ row: ConsumptionRequestRow, by type: String, at time: Timestamp) throws(LedgerStorageError) {
        try connection.send(
            to: Self.name,
            """
            UPDATE consumption_requests SET closed_by = ?2, closed_at = ?3,
            state = CASE WHEN state = 'open' THEN 'closed' ELSE state END WHERE entry_key = ?1
            """, [.integer(row.entryKey), .text(type), .time(time)])
        try WorkTable(connection: connection).delete(row.work)
    }

    /// Deletes the question of an erased notification.
    func delete(_ entry: Int64) throws(LedgerStorageError) {
        guard let row = try row(entry) else { return }
        try WorkTable(connection: connection).delete(row.work)
        try connection.send(
            to: Self.name, "DELETE FROM consumption_requests WHERE entry_key = ?1", [.integer(entry)])
    }

    /// Deletes the questions about an erased transaction.
    func deleteAll(transaction: Int64) throws(LedgerStorageError) {
        for row in try rows(transaction: transaction) { try delete(row.entryKey) }
    }
}

/// Apple's question about the use of a purchase for which its customer asks a refund.
struct ConsumptionRequestRow: TableRow {
    static let table = Table(
        "consumption_requests", key: nil,
        columns: [
            "entry_key", "app_key", "transaction_key", "asked_at", "deadline", "reason", "state", "answer_entry",
            "closed_by", "closed_at", "asked",
        ])

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
        asked = try reader.integer()
    }

    /// A new question.
    init(
        entryKey: Int64, appKey: Int64, transactionKey: Int64, askedAt: Timestamp, deadline: Timestamp, reason: String?
    ) {
        self.entryKey = entryKey
        self.appKey = appKey
        self.transactionKey = transactionKey
        self.askedAt = askedAt
        self.deadline = deadline
        self.reason = reason
        state = .open
    }

    var values: [LedgerValue] {
        [
            .integer(entryKey), .integer(appKey), .integer(transactionKey), .time(askedAt), .time(deadline),
            .text(reason), .text(state.rawValue), .integer(answerEntry), .text(closedBy), .time(closedAt),
            .integer(asked),
        ]
    }

    /// The answer to Apple. Its progress is the answer that is being sent: after a crash exactly the same one is sent.
    var work: WorkKey { WorkKey(.refund, appKey: appKey, entry: entryKey) }

    /// The state at a time.
    func state(at now: Timestamp) -> ConsumptionRequestState {
        state == .open && deadline <= now ? .expired : state
    }
}

struct ConsumptionConsentsTable {
    let connection: any LedgerConnection

    func row(of customer: Int64) throws(LedgerStorageError) -> ConsumptionConsentRow? {
        try ConsumptionConsentRow.first("WHERE customer_key = ?1", [.integer(customer)], connection)
    }

    func write(_ row: ConsumptionConsentRow) throws(LedgerStorageError) {
        try connection.send(
            to: "consumption_consents",
            """
            INSERT INTO consumption_consents (customer_key, is_given, stated_at, entry_key) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (customer_key) DO UPDATE SET is_given = ?2, stated_at = ?3, entry_key = ?4
            """, row.values)
    }

    /// Of two merged customers the latest statement counts; of two at the same time, the refusal.
    func move(from customer: Int64, to target: Int64) throws(LedgerStorageError) {
        guard var row = try row(of: customer) else { return }
        if let known = try self.row(of: target) {
            let isLater = row.statedAt == known.statedAt ? !row.isGiven : row.statedAt > known.statedAt
            guard isLater else { return try delete(of: customer) }
        }
        try delete(of: customer)
        row.customerKey = target
        try write(row)
    }

    func delete(of customer: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: "consumption_consents", "DELETE FROM consumption_consents WHERE customer_key = ?1",
            [.integer(customer)])
    }
}

/// A customer's latest answer to the question whether their use of purchases may be told to Apple.
struct ConsumptionConsentRow: TableRow {
    static let table = Table(
        "consumption_consents", key: nil, columns: ["customer_key", "is_given", "stated_at", "entry_key"])

    var customerKey: Int64
    var isGiven: Bool
    var statedAt: Timestamp
    var entryKey: Int64

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        customerKey = try reader.integer()
        isGiven = try reader.flag()
        statedAt = try reader.time()
        entryKey = try reader.integer()
    }

    init(customerKey: Int64, isGiven: Bool, statedAt: Timestamp, entryKey: Int64) {
        self.customerKey = customerKey
        self.isGiven = isGiven
        self.statedAt = statedAt
        self.entryKey = entryKey
    }

    var values: [LedgerValue] { [.integer(customerKey), .flag(isGiven), .time(statedAt), .integer(entryKey)] }
}
