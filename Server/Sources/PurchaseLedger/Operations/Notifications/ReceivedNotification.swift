import PurchaseVerification

import struct Foundation.UUID

/// A notification that is being observed, with its row if it was received before.
struct ReceivedNotification {
    let facts: NotificationFacts
    let app: RegistryApp
    let environment: Int64
    /// The entry of its first delivery; `nil` if this is the first.
    let first: Int64?

    /// - Returns: `nil` if the evidence is no notification.
    init?(
        _ evidence: ExaminedEvidence, of app: RegistryApp, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) {
        guard let facts = evidence.notification else { return nil }
        self.facts = facts
        self.app = app
        environment = try transaction.environments.keyToWrite(ofStated: facts.environment)
        first = try NotificationsTable(connection: transaction.connection).entry(
            facts.id.string, appKey: app.key, environment: environment)
    }

    /// The details of its entry. They name the claims that end by the ids of their rows, which can be in capitals, so
    /// that a replay needs no other form of an id. A claim of another environment does not end.
    func details(_ transaction: LedgerTransaction) throws(LedgerStorageError) -> NotificationDetails {
        var details = NotificationDetails(facts)
        guard details.unclaimedSeats != nil else { return details }
        let connection = transaction.connection
        var ended: [String] = []
        for id in facts.unclaimedSeats.map(\.string) {
            let seats = try SeatsTable(connection: connection).rows(id: id, appKey: app.key)
            var named = seats.isEmpty ? [SeatID.normalized(id)] : []
            for seat in seats {
                let original = try OriginalsTable(connection: connection).row(seat.originalKey)
                if environment == 0 || environment == original.environment { named.append(seat.seatID) }
            }
            for id in named where !ended.contains(where: { $0.isSame(as: id) }) { ended.append(id) }
        }
        details.unclaimedSeats = ended.isEmpty ? nil : ended
        return details
    }

    /// Whether exactly these bytes were received before, so that nothing is left to be done.
    func isKnown(_ evidence: ExaminedEvidence, _ transaction: LedgerTransaction) throws(LedgerStorageError) -> Bool {
        guard first != nil else { return false }
        return try EvidenceTable(connection: transaction.connection).row(sha256: evidence.stored.sha256) != nil
    }

    /// The id of the entry of the first delivery.
    func firstEntry(_ transaction: LedgerTransaction) throws(LedgerStorageError) -> UUID? {
        guard let first else { return nil }
        return try JournalTable(connection: transaction.connection).row(key: first)?.id
    }

    /// Writes the rows of a first delivery.
    ///
    /// - Parameters:
    ///   - entry: its entry.
    ///   - evidence: its evidence.
    ///   - body: the body of the request, if it has not the usual form.
    ///   - transaction: the write.
    func insert(
        _ entry: JournalEntry, _ evidence: KeptEvidence?, body: [UInt8]?, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) {
        try NotificationsTable(connection: transaction.connection).insert(
            facts.id.string, type: facts.type?.string, subtype: facts.subtype?.string, appKey: app.key,
            environment: environment, entry: entry.key)
        guard let body, let evidence else { return }
        let bodies = NotificationBodiesTable(connection: transaction.connection)
        try bodies.insert(body, evidence: evidence.key)
    }
}

extension NotificationDetails: LedgerInput {
    func redacted(_ scope: ErasureScope) -> NotificationDetails? {
        var kept = self
        (kept.status, kept.refundReason) = (nil, nil)
        (kept.originalTransactionID, kept.transactionID, kept.appTransactionID) = (nil, nil, nil)
        return kept
    }

    /// Writes what does not follow from the transaction in it.
    func run(_ write: EntryWrite) throws {
        let (transaction, app) = (write.transaction, write.app)
        if let recorded = write.recorded {
            try recorded.observe(write.entry, write.draft.app, claims: nil)
            guard write.draft.app != nil else { return }
            let environment = try transaction.environments.keyToWrite(
                ofStated: environment.map { AppStoreEnvironment($0) })
            let table = NotificationsTable(connection: write.connection)
            guard try table.entry(notificationID, appKey: app.key, environment: environment) == nil else {
                return try write.impossible("the notification was received before")
            }
            try table.insert(
                notificationID, type: type, subtype: subtype, appKey: app.key, environment: environment,
                entry: write.entry.key)
            guard !write.isOfEntriesAlone else { return }
        }
        let events = NotificationEvents(transaction: transaction, app: app, entry: write.entry)
        try events.write(self)
        if let token = externalPurchase, write.draft.app != nil {
            try events.writeExternalPurchase(token, self, write)
        }
        if let decision = write.recorded?.keptDecision(self) { try events.closeRequests(decision) }
        try SeatWriter(transaction: transaction, app: app, entry: write.entry).unclaim(self)
    }
}
