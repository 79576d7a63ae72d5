import PurchaseVerification

/// Reads the access of claimed seats, which follows from that of the purchaser and is not stored for each member.
struct SeatReading {
    let reader: LedgerTransaction
    let question: AccessQuestion

    private var seats: SeatsTable { SeatsTable(connection: reader.connection) }

    /// The entitlements of a customer with the timelines of their seats.
    func resolved(
        _ rows: [(row: EntitlementRow, productID: String)]
    ) throws(LedgerStorageError) -> [(row: EntitlementRow, productID: String)] {
        guard rows.contains(where: { $0.row.seatEntry != nil }) else { return rows }
        var resolved = rows
        for place in rows.indices { resolved[place].row = try self.resolved(rows[place].row) }
        return resolved
    }

    /// The entitlements of a customer to one product with the timelines of their seats.
    func resolved(_ rows: [EntitlementRow]) throws(LedgerStorageError) -> [EntitlementRow] {
        var resolved = rows
        for place in rows.indices where rows[place].seatEntry != nil {
            resolved[place] = try self.resolved(rows[place])
        }
        return resolved
    }

    private func resolved(_ row: EntitlementRow) throws(LedgerStorageError) -> EntitlementRow {
        guard let entry = row.seatEntry else { return row }
        guard let seat = try seats.row(entry: entry),
            let stored = try SeatAccessTable(connection: reader.connection).rows(original: seat.originalKey)
                .first(where: { $0.productKey == row.productKey })
        else { throw LedgerStorageError(.corrupt, "there is no seat of entry \(entry)") }
        let access = try stored.access(in: try reader.environments.environment(stored.environment))
        var resolved = row
        resolved.timeline = try timeline(of: seat, access).encoded
        return resolved
    }

    private func timeline(of seat: SeatRow, _ access: SeatAccess) throws(LedgerStorageError) -> AccessTimeline {
        let largest = access.numbers.map(\.seats).max() ?? 0
        // Claims that have ended are not counted for now, so its cost is bounded by the number of seats.
        let older =
            question.isAboutNow
            ? try seats.count(original: seat.originalKey, before: seat.entryKey, limit: largest)
            : try seats.count(original: seat.originalKey, before: seat.entryKey, at: question.moment)
        return access.timeline(
            of: SeatAccess.Claim(claimedAt: seat.claimedAt, endedAt: seat.endedAt, olderClaims: older))
    }

    /// What a subscription gives those who claim its seats; empty if the backend does not invite its members.
    func access(to original: OriginalRow) throws(LedgerStorageError) -> [SeatAccess] {
        let stored = try SeatAccessTable(connection: reader.connection).rows(original: original.key)
        guard stored.isEmpty else {
            let environment = try reader.environments.environment(original.environment)
            return try stored.map { row throws(LedgerStorageError) in try row.access(in: environment) }
        }
        let history = try HistoryReader(transaction: reader).history(original)
        return Array(history.seatAccess(.stored(history)).values)
    }

    /// The number of claims that can have access to a subscription.
    func number(of access: [SeatAccess]) -> Int64 { access.map { $0.number(question) }.max() ?? 0 }
}

extension LedgerTransaction {
    /// The original of a subscription of an app.
    ///
    /// - Throws: `purchase_unknown`, or `purchase_ambiguous` if there are several and no environment is named.
    func subscription(
        _ id: String, _ environment: AppStoreEnvironment?, _ app: RegistryApp
    ) throws -> OriginalRow {
        let found = try OriginalsTable(connection: connection).rows(id: id).filter { row in
            guard row.appKey == app.key else { return false }
            return try environment.map { try environments.environment(row.environment) == $0 } ?? true
        }
        guard let row = found.first else { throw LedgerRefusal(.purchaseUnknown, expected: id) }
        guard found.count == 1 else { throw LedgerRefusal(.purchaseAmbiguous, expected: id) }
        return row
    }
}
