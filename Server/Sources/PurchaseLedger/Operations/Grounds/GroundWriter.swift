import PurchaseVerification

import struct Foundation.UUID

/// Writes grounds of other shops under their journal entry.
struct GroundWriter {
    let transaction: LedgerTransaction
    let app: RegistryApp
    let entry: JournalEntry

    private var grants: HandGrantsTable { HandGrantsTable(connection: transaction.connection) }

    /// Writes a new ground, or the other end of a known one.
    ///
    /// - Returns: `nil` if the details name no id or kind.
    func write(_ details: GroundAddedDetails, customer: Int64) throws(LedgerStorageError) -> HandGrantRow? {
        guard let id = UUID(uuidString: details.groundID), let kind = ProductKind(rawValue: details.kind) else {
            return nil
        }
        let end = details.endsAt.map { Timestamp(millisecondsSince1970: $0) }
        var row: HandGrantRow
        if let known = try grants.row(id: id) {
            row = known
            row.endsAt = end
            try grants.extend(row.key, to: end)
        } else {
            row = HandGrantRow(
                id: id, appKey: app.key, customerKey: customer,
                productKey: try transaction.products.keyToWrite(
                    details.productID, appKey: app.key, at: transaction.now),
                environment: try transaction.environments.keyToWrite(of: AppStoreEnvironment(details.environment)),
                kind: .grant, quantity: 1, startsAt: Timestamp(millisecondsSince1970: details.startsAt), endsAt: end,
                entryKey: entry.key)
            (row.source, row.reference) = (details.source, details.reference)
            row = try grants.insert(row)
        }
        _ = try HandGrantWriter(transaction: transaction, app: app).write(row, kind: kind)
        let events = LedgerEvents(transaction, app: app, entry: entry)
        var event = events.event(.groundAdded)
        (event.productKey, event.environment) = (row.productKey, row.environment)
        (event.figures.until, event.figures.reason) = (end, row.source)
        try transaction.tell(event, to: customer)
        return row
    }

    /// Ends a ground now.
    func end(_ row: HandGrantRow) throws {
        var row = row
        row.liftedAt = transaction.now
        try grants.lift(row.key, at: transaction.now)
        try HandGrantWriter(transaction: transaction, app: app)
            .change(row, entry, .groundEnded, reason: row.source, customer: row.customerKey)
    }
}
