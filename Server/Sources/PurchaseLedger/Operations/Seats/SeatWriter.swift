import PurchaseVerification

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
