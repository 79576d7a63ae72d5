import PurchaseVerification

struct ConsumptionRequestsTable {
    private static let name = "consumption_requests"

    let connection: any LedgerConnection

    func row(_ entry: Int64) throws(LedgerStorageError) -> ConsumptionRequestRow? {
        try ConsumptionRequestRow.first("WHERE entry_key = ?1", [.integer(entry)], connection)
    }

    func insert(_ row: ConsumptionRequestRow) throws(LedgerStorageError) {
        try connection.insert(ConsumptionRequestRow.table.insertion, row.values)
    }

    /// Counts a notification that asks the same question again.
    func count(_ entry: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: Self.name, "UPDATE consumption_requests SET asked = asked + 1 WHERE entry_key = ?1", [.integer(entry)])
    }

    /// The questions of apps that are due and that no server works on, the earliest deadline first.
    func due(_ apps: [Int64], at now: Timestamp, limit: Int64) throws(LedgerStorageError) -> [ConsumptionRequestRow] {
        guard !apps.isEmpty else { return [] }
        let names = apps.sorted().map { "\($0)" }.joined(separator: ", ")
        // A lease that ends later than possible was taken by a clock that has been set back since.
        return try ConsumptionRequestRow.all(
            """
            WHERE state = 'open' AND next_at <= ?1 AND deadline > ?1
            AND (leased_until IS NULL OR leased_until <= ?1 OR leased_until > ?2) AND app_key IN (\(names))
            ORDER BY deadline, entry_key LIMIT ?3
            """,
            [
                .time(now), .integer(now.millisecondsSince1970 + ConsumptionRequestRow.lease), .integer(limit),
            ], connection)
    }

    /// The questions about a transaction, the oldest first.
    func rows(transaction: Int64) throws(LedgerStorageError) -> [ConsumptionRequestRow] {
        try ConsumptionRequestRow.all(
            "WHERE transaction_key = ?1 ORDER BY asked_at, entry_key", [.integer(transaction)], connection)
    }

    /// Lets one server work on a question, with the answer that it sends.
    func lease(_ entry: Int64, until end: Timestamp, answer: [UInt8]) throws(LedgerStorageError) {
        try connection.send(
            to: Self.name,
            "UPDATE consumption_requests SET leased_until = ?2, answer = ?3 WHERE entry_key = ?1 AND state = 'open'",
            [.integer(entry), .time(end), .blob(answer)])
    }

    /// Looks at a question again later.
    func postpone(_ entry: Int64, attempts: Int64, to next: Timestamp) throws(LedgerStorageError) {
        try connection.send(
            to: Self.name,
            """
            UPDATE consumption_requests SET attempts = ?2, next_at = ?3, leased_until = NULL
            WHERE entry_key = ?1 AND state = 'open'
            """, [.integer(entry), .integer(attempts), .time(next)])
    }

    /// Ends the work on a question.
    func finish(_ entry: Int64, _ state: ConsumptionRequestState, answer: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: Self.name,
            """
            UPDATE consumption_requests SET state = ?2, answer_entry = ?3, leased_until = NULL, answer = NULL
            WHERE entry_key = ?1
            """, [.integer(entry), .text(state.rawValue), .integer(answer)])
    }

    /// Notes Apple's decision about the refund.
    func close(_ row: ConsumptionRequestRow, by type: String, at time: Timestamp) throws(LedgerStorageError) {
        try connection.send(
            to: Self.name,
            """
            UPDATE consumption_requests SET closed_by = ?2, closed_at = ?3,
            state = CASE WHEN state = 'open' THEN 'closed' ELSE state END, leased_until = NULL, answer = NULL
            WHERE entry_key = ?1
            """, [.integer(row.entryKey), .text(type), .time(time)])
    }

    /// Deletes the question of an erased notification.
    func delete(_ entry: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: Self.name, "DELETE FROM consumption_requests WHERE entry_key = ?1", [.integer(entry)])
    }

    /// Deletes the questions about an erased transaction.
    func deleteAll(transaction: Int64) throws(LedgerStorageError) {
        try connection.send(
            to: Self.name, "DELETE FROM consumption_requests WHERE transaction_key = ?1", [.integer(transaction)])
    }
}

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
