import PurchaseVerification

/// Claims of seats, and their ends by the backend.
extension ReplayStep {
    func claimSeat(_ details: SeatClaimedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let unclaimed = UnclaimedSeatsTable(connection: connection)
        guard !details.customer.isEmpty else {
            // The member was erased. The id of the seat never lives again.
            _ = try self.customer(nil, app)
            return try unclaimed.insertIfNew(details.seatID, appKey: app.key, entry: entry.key)
        }
        let customer = try existing(details.customer, app)
        guard let original = try original(details.original, entry, app) else {
            if !isOfEntriesAlone { findings.add(impossible: leaf, "the subscription is not known") }
            return
        }
        let seats = SeatsTable(connection: connection)
        let isKnown =
            try seats.row(id: details.seatID, appKey: app.key) != nil
            || unclaimed.contains(details.seatID, appKey: app.key, environment: original.environment)
            || seats.row(request: details.requestID, original: original.key) != nil
        guard !isKnown else {
            if !hasErasures { findings.add(impossible: leaf, "the seat was claimed or unclaimed before") }
            return
        }
        try SeatWriter(transaction: transaction, app: app, entry: entry).claim(
            SeatRow(
                entryKey: entry.key, appKey: app.key, originalKey: original.key, seatID: details.seatID,
                customerKey: customer.key, requestID: details.requestID, appTransactionID: details.appTransactionID,
                claimedAt: leaf.at))
    }

    func unclaimSeat(_ details: SeatUnclaimedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        guard !isOfEntriesAlone else { return }
        guard let seat = try SeatsTable(connection: connection).row(id: details.seatID, appKey: app.key),
            seat.endedAt == nil
        else {
            if !hasErasures { findings.add(impossible: leaf, "there is no claim of the seat before it") }
            return
        }
        try SeatWriter(transaction: transaction, app: app, entry: entry).end(seat, at: leaf.at)
    }

    /// A subscription. All of its transactions can have belonged to an erased customer.
    func original(
        _ key: OriginalKey, _ entry: JournalEntry, _ app: RegistryApp
    ) throws -> OriginalRow? {
        let environment = try transaction.environments.keyToWrite(of: key.environment)
        let table = OriginalsTable(connection: connection)
        if let row = try table.row(key, environment: environment) { return row }
        let erased = transaction.erasures?.transactions.values.filter { $0.original == key } ?? []
        guard !erased.isEmpty else { return nil }
        let changes = LedgerChanges(transaction, app: app)
        for facts in erased.sorted(by: { $0.key.transactionID < $1.key.transactionID }) {
            try changes.claim(erased: facts)
        }
        try changes.settle()
        try changes.finish(entry)
        return try table.row(key, environment: environment)
    }
}
