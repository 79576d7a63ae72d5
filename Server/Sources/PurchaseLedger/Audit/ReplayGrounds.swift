import struct Foundation.UUID

/// Grounds of other shops.
extension ReplayStep {
    func add(_ details: GroundAddedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let customer = try existing(details.customer, app)
        let known = try UUID(uuidString: details.groundID).flatMap { id throws(LedgerStorageError) in
            try HandGrantsTable(connection: connection).row(id: id)
        }
        if let known, known.liftedAt != nil { findings.add(impossible: leaf, "the ground has ended before") }
        _ = try GroundWriter(transaction: transaction, app: app, entry: entry).write(details, customer: customer.key)
    }

    func end(_ details: GroundEndedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        guard let id = UUID(uuidString: details.groundID),
            let row = try HandGrantsTable(connection: connection).row(id: id), row.source != nil
        else {
            if !hasErasures { findings.add(impossible: leaf, "the ground is not known") }
            return
        }
        if row.liftedAt != nil { findings.add(impossible: leaf, "the ground has ended before") }
        try GroundWriter(transaction: transaction, app: app, entry: entry).end(row)
    }
}
