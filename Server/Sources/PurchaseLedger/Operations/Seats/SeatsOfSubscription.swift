public import PurchaseVerification

/// The claimed seats of a subscription that have not ended, the oldest first.
public struct SeatsOfSubscription: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    public var originalTransactionID: String
    public var environment: AppStoreEnvironment?
    /// The position at which the previous page ended.
    public var after: Int64
    public var limit: Int

    /// A page of seats.
    public init(
        app: String, originalTransactionID: String, environment: AppStoreEnvironment? = nil, after: Int64 = 0,
        limit: Int
    ) {
        self.app = app
        self.originalTransactionID = originalTransactionID
        self.environment = environment
        self.after = after
        self.limit = limit
    }

    /// A page, and the start of the next one; `nil` if this is the last.
    public struct Answer: Sendable {
        public var environment: AppStoreEnvironment
        /// The seats of the present period; 0 if it gives no access.
        public var seats: Int64
        /// The claims that have not ended, on all pages. There can be more than seats.
        public var claims: Int64
        public var claimed: [SeatRecord]
        public var next: Int64?
    }

    /// - Throws: `purchase_unknown`, `purchase_ambiguous`, `seats_not_hosted`.
    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        let original = try reader.subscription(originalTransactionID, environment, app)
        let seats = SeatsTable(connection: reader.connection)
        let reading = SeatReading(reader: reader, question: .now(reader.now))
        let access = try reading.access(to: original)
        guard !access.isEmpty else {
            throw LedgerRefusal(
                .seatsNotHosted, expected: "a subscription with invitationManagement DEVELOPER",
                found: original.originalID)
        }
        let number = reading.number(of: access)
        let count = max(1, limit)
        var rows = try seats.current(original: original.key, after: after, limit: Int64(count) + 1)
        var next: Int64?
        if rows.count > count {
            rows.removeLast()
            next = rows.last?.entryKey
        }
        var older = try rows.first.map { first throws(LedgerStorageError) in
            try seats.count(original: original.key, before: first.entryKey, limit: .max)
        }
        var claimed: [SeatRecord] = []
        for row in rows {
            var record = try SeatRecord(row, of: original, reader)
            record.isSeated = (older ?? 0) < number
            older = (older ?? 0) + 1
            claimed.append(record)
        }
        return Answer(
            environment: try reader.environments.environment(original.environment), seats: number,
            claims: try seats.count(original: original.key, before: .max, limit: .max), claimed: claimed, next: next)
    }
}
