public import PurchaseAPI
public import PurchaseVerification

/// Gives a seat of a subscription to a customer. It is for subscriptions whose members the backend invites
/// (`invitationManagement: DEVELOPER`): they have no transactions, and the ledger keeps the list.
public struct ClaimSeat: LedgerOperation {
    public var app: String
    /// The original transaction id of the subscription.
    public var originalTransactionID: String
    public var environment: AppStoreEnvironment?
    public var customerID: String
    /// Identifies the request: a repeated one answers with the seat of the first.
    public var requestID: String
    /// The member's download of the app.
    public var appTransactionID: String?
    /// The App Store's `seatClaimId`, if the App Store was asked for it; otherwise the seat gets a random id.
    public var seatID: String?

    /// A claim of a seat.
    public init(
        app: String, originalTransactionID: String, environment: AppStoreEnvironment? = nil, customerID: String,
        requestID: String, appTransactionID: String? = nil, seatID: String? = nil
    ) {
        self.app = app
        self.originalTransactionID = originalTransactionID
        self.environment = environment
        self.customerID = customerID
        self.requestID = requestID
        self.appTransactionID = appTransactionID
        self.seatID = seatID
    }

    public var locks: LedgerLocks {
        var locks: Set<LedgerLock> = [.customer(customerID)]
        if let seatID { locks.insert(.seat(seatID)) }
        return .parts(locks)
    }

    /// - Returns: the seat; `replayed` if the customer had it already.
    /// - Throws: `purchase_unknown`, `purchase_ambiguous`, `seats_not_hosted`, `no_seat`, `seat_unclaimed`,
    ///   `seat_taken`, `idempotency_key_reused`.
    public func perform(_ transaction: LedgerTransaction) throws -> SeatMessage {
        let app = try transaction.app(app)
        for (name, text) in [
            ("customer_id", customerID), ("request_id", requestID), ("app_transaction_id", appTransactionID),
            ("seat_id", seatID),
        ] {
            guard text.map({ ExactText($0).isIdentifier }) ?? true else {
                throw LedgerRefusal(.fieldMalformed, expected: name)
            }
        }
        let original = try transaction.subscription(originalTransactionID, environment, app)
        let named = try transaction.environments.environment(original.environment)
        try transaction.connection.lock { () throws(LedgerStorageError) in [.original(named, original.originalID)] }
        let seats = SeatsTable(connection: transaction.connection)
        let customer = try transaction.customer(customerID, app)
        if let earlier = try seats.row(request: requestID, original: original.key) {
            guard earlier.customerKey == customer?.key else { throw LedgerRefusal(.idempotencyKeyReused) }
            try requireSame(earlier)
            return try message(earlier, original, isReplayed: true, transaction)
        }
        if let held = try customer.flatMap({ try seats.current(of: $0.key, original: original.key) }) {
            return try message(held, original, isReplayed: true, transaction)
        }
        try requireUnused(seats, original, app, transaction)
        try requireSeat(seats, original, transaction)
        let member = try transaction.customerToWrite(customerID, app)
        let id = seatID.map(SeatID.normalized) ?? TimeOrderedID.next(at: transaction.now).text
        var draft = transaction.draft(app)
        draft.customer = member
        let details = SeatClaimedDetails(
            customer: customerID, seatID: id, requestID: requestID, appTransactionID: appTransactionID,
            environment: named.name, originalID: original.originalID,
            originalSecond: original.xcodeSecond == 0 ? nil : original.xcodeSecond)
        guard let seat = try details.run(try transaction.append(draft, details)) else {
            throw LedgerStorageError(.other, "the seat \(id) was not written")
        }
        return try message(seat, original, isReplayed: false, transaction)
    }

    /// A repeated request may leave out what the first one stated, but state nothing else: it would be dropped.
    private func requireSame(_ first: SeatRow) throws(LedgerRefusal) {
        if let appTransactionID, !appTransactionID.isSame(as: first.appTransactionID) {
            throw LedgerRefusal(
                .idempotencyKeyReused, expected: "app_transaction_id \(first.appTransactionID ?? "absent")",
                found: appTransactionID)
        }
        if let seatID, !SeatID.normalized(seatID).isSame(as: SeatID.normalized(first.seatID)) {
            throw LedgerRefusal(.idempotencyKeyReused, expected: "seat_id \(first.seatID)", found: seatID)
        }
    }

    /// An unclaimed seat id never lives again, whichever came first.
    private func requireUnused(
        _ seats: SeatsTable, _ original: OriginalRow, _ app: RegistryApp, _ transaction: LedgerTransaction
    ) throws {
        guard let seatID else { return }
        let used = try seats.rows(id: seatID, appKey: app.key)
        let unclaimed = UnclaimedSeatsTable(connection: transaction.connection)
        let isUnclaimed = try SeatID.forms(seatID).contains {
            try unclaimed.contains($0, appKey: app.key, environment: original.environment)
        }
        if isUnclaimed || used.contains(where: { $0.endedAt != nil }) {
            throw LedgerRefusal(.seatUnclaimed, expected: "a new seat_id", found: seatID)
        }
        guard used.isEmpty else { throw LedgerRefusal(.seatTaken, expected: "a new seat_id", found: seatID) }
    }

    private func requireSeat(_ seats: SeatsTable, _ original: OriginalRow, _ transaction: LedgerTransaction) throws {
        let reading = SeatReading(reader: transaction, question: .now(transaction.now))
        let access = try reading.access(to: original)
        guard !access.isEmpty else {
            throw LedgerRefusal(
                .seatsNotHosted, expected: "a subscription with invitationManagement DEVELOPER",
                found: original.originalID)
        }
        let number = reading.number(of: access)
        let claims = try seats.count(original: original.key, before: .max, limit: number + 1)
        guard claims < number else {
            throw LedgerRefusal(
                .noSeat, expected: "more than \(claims) seats in a period that gives access", found: "\(number)")
        }
    }

    private func message(
        _ row: SeatRow, _ original: OriginalRow, isReplayed: Bool, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> SeatMessage {
        var message = try SeatMessage(row, of: original, transaction)
        message.replayed = isReplayed
        guard row.endedAt == nil else { return message }
        let reading = SeatReading(reader: transaction, question: .now(transaction.now))
        let number = reading.number(of: try reading.access(to: original))
        let older = try SeatsTable(connection: transaction.connection)
            .count(original: original.key, before: row.entryKey, limit: number)
        message.seated = older < number
        return message
    }
}

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
        let details = SeatUnclaimedDetails(
            seatID: seat.seatID, environment: named.name, originalID: original.originalID,
            originalSecond: original.xcodeSecond == 0 ? nil : original.xcodeSecond)
        try details.run(try transaction.append(draft, details))
    }
}

/// `seat_claimed`.
struct SeatClaimedDetails: LedgerInput {
    static var kind: JournalKind { .seatClaimed }
    /// Empty after an erasure, which keeps the id: it never lives again.
    var customer: String
    var seatID: String
    var requestID: String
    var appTransactionID: String?
    var environment: String
    var originalID: String
    var originalSecond: Int64?

    var original: OriginalKey {
        OriginalKey(
            environment: AppStoreEnvironment(environment), transactionID: ExactText(originalID),
            second: originalSecond ?? 0)
    }

    func redacted(_ scope: ErasureScope) -> SeatClaimedDetails? {
        var kept = self
        (kept.customer, kept.requestID, kept.appTransactionID) = ("", "", nil)
        return kept
    }

    /// - Returns: the seat; `nil` if the entry gives none.
    @discardableResult
    func run(_ write: EntryWrite) throws -> SeatRow? {
        let unclaimed = UnclaimedSeatsTable(connection: write.connection)
        guard !self.customer.isEmpty else {
            // The member was erased. The id of the seat never lives again.
            _ = try write.customer()
            try unclaimed.insertIfNew(seatID, appKey: write.app.key, entry: write.entry.key)
            return nil
        }
        let customer = try write.existing(self.customer)
        guard let original = try write.original(original) else {
            if !write.isOfEntriesAlone { try write.impossible("the subscription is not known") }
            return nil
        }
        let seats = SeatsTable(connection: write.connection)
        // A request was refused before.
        if write.recorded != nil,
            try seats.row(id: seatID, appKey: write.app.key) != nil
                || unclaimed.contains(seatID, appKey: write.app.key, environment: original.environment)
                || seats.row(request: requestID, original: original.key) != nil
        {
            try write.impossible("the seat was claimed or unclaimed before", unlessErased: true)
            return nil
        }
        let seat = SeatRow(
            entryKey: write.entry.key, appKey: write.app.key, originalKey: original.key, seatID: seatID,
            customerKey: customer.key, requestID: requestID, appTransactionID: appTransactionID,
            claimedAt: write.transaction.now)
        try SeatWriter(transaction: write.transaction, app: write.app, entry: write.entry).claim(seat)
        return seat
    }
}

/// `seat_unclaimed`, by the backend. The App Store's `UNCLAIM_SEATS` is a notification.
struct SeatUnclaimedDetails: LedgerInput {
    static var kind: JournalKind { .seatUnclaimed }
    var seatID: String
    var environment: String
    var originalID: String
    var originalSecond: Int64?

    func run(_ write: EntryWrite) throws {
        guard !write.isOfEntriesAlone else { return }
        guard let seat = try SeatsTable(connection: write.connection).row(id: seatID, appKey: write.app.key),
            seat.endedAt == nil
        else { return try write.impossible("there is no claim of the seat before it", unlessErased: true) }
        try SeatWriter(transaction: write.transaction, app: write.app, entry: write.entry)
            .end(seat, at: write.transaction.now)
    }
}

/// Writes claims of seats and their ends.
struct SeatWriter {
    let transaction: LedgerTransaction
    let app: RegistryApp
    let entry: JournalEntry

    private var connection: any LedgerConnection { transaction.connection }
    private var seats: SeatsTable { SeatsTable(connection: connection) }

    /// Writes a claim and, if it is the first of its subscription, what the subscription gives to its members.
    func claim(_ seat: SeatRow) throws {
        try seats.insert(seat)
        transaction.entitlementWrites?.forgetEverything()
        if try SeatAccessTable(connection: connection).rows(original: seat.originalKey).isEmpty {
            let changes = LedgerChanges(transaction, app: app)
            changes.touch(try changes.history(seat.originalKey))
            try changes.settle()
            try changes.finish(entry)
        }
        try writeEvent(.seatClaimed, of: seat)
    }

    /// Ends a claim. Of several ends the earliest counts, in whatever order they arrive.
    func end(_ seat: SeatRow, at moment: Timestamp) throws(LedgerStorageError) {
        if let ended = seat.endedAt, ended <= moment { return }
        try transaction.lock(customers: { [seat.customerKey] })
        try seats.end(seat, at: moment)
        transaction.entitlementWrites?.forgetEverything()
        if seat.endedAt == nil { try writeEvent(.seatUnclaimed, of: seat) }
    }

    /// Ends the claims that a notification names (Apple, "unclaimInfo"), from its signature on. A seat that nobody has
    /// claimed yet is never claimed.
    ///
    /// - Parameter details: the details of the entry, which names claims by exactly the ids of their rows
    ///   (`ReceivedNotification.details`).
    func unclaim(_ details: NotificationDetails) throws(LedgerStorageError) {
        guard NotificationType.unclaimSeats.rawValue.isSame(as: details.type) else { return }
        let signedAt = details.signedAt.map { Timestamp(millisecondsSince1970: $0) }
        let end = min(signedAt ?? transaction.now, transaction.now)
        for id in details.unclaimedSeats ?? [] {
            if let seat = try seats.row(id: id, appKey: app.key) {
                try self.end(seat, at: end)
            } else {
                try UnclaimedSeatsTable(connection: connection).insertIfNew(id, appKey: app.key, entry: entry.key)
            }
        }
    }

    private func writeEvent(_ type: EventType, of seat: SeatRow) throws(LedgerStorageError) {
        let writer = LedgerEvents(transaction, app: app, entry: entry)
        var event = writer.event(type)
        event.originalKey = seat.originalKey
        event.environment = try OriginalsTable(connection: connection).row(seat.originalKey).environment
        try transaction.tell(event, to: seat.customerKey)
    }
}
