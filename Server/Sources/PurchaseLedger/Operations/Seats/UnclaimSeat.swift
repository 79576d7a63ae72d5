public import PurchaseVerification

/// Ends a claim of a seat. Its id never lives again; a new claim has a new id.
public struct UnclaimSeat: LedgerOperation {
    public var app: String
    public var originalTransactionID: String
    public var environment: AppStoreEnvironment?
    public var seatID: String

    /// Ends the claim of a seat.
    public init(
        app: String, originalTransactionID: String, environment: AppStoreEnvironment? = nil, seatID: String
    ) {
        self.app = app
        self.originalTransactionID = originalTransactionID
        self.environment = environment
        self.seatID = seatID
    }

    public var locks: LedgerLocks { .parts([.seat(seatID)]) }

    /// Ending a claim that has ended changes nothing.
    ///
    /// - Throws: `purchase_unknown`, `purchase_ambiguous`, `seat_unknown`.
    public func perform(_ transaction: LedgerTransaction) throws {
        let app = try transaction.app(app)
        let original = try transaction.subscription(originalTransactionID, environment, app)
        let named = try transaction.environments.environment(original.environment)
        try transaction.connection.lock { () throws(LedgerStorageError) in [.original(named, original.originalID)] }
        let seats = try SeatsTable(connection: transaction.connection).rows(id: seatID, appKey: app.key)
        guard let seat = seats.first(where: { $0.originalKey == original.key }) else {
            throw LedgerRefusal(.seatUnknown, expected: seatID)
        }
        guard seat.endedAt == nil else { return }
        try transaction.lock(customers: { [seat.customerKey] })
        var draft = transaction.draft(app)
        draft.customer = try transaction.customers.surviving(try transaction.customers.row(seat.customerKey))
        let entry = try transaction.journal.append(
            draft,
            SeatUnclaimedDetails(
                seatID: seat.seatID, environment: named.name, originalID: original.originalID,
                originalSecond: original.xcodeSecond == 0 ? nil : original.xcodeSecond))
        try SeatWriter(transaction: transaction, app: app, entry: entry).end(seat, at: transaction.now)
    }
}
