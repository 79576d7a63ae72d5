import PurchaseVerification

import struct Foundation.UUID

/// Grants and revocations by operators.
extension ReplayStep {
    func grant(_ details: GrantAddedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let customer = try existing(details.customer, app)
        guard let id = UUID(uuidString: details.grantID), let kind = ProductKind(rawValue: details.kind) else { return }
        let row = try HandGrantsTable(connection: connection).insert(
            HandGrantRow(
                id: id, appKey: app.key, customerKey: customer.key,
                productKey: try transaction.products.keyToWrite(details.productID, appKey: app.key, at: leaf.at),
                environment: try transaction.environments.keyToWrite(of: AppStoreEnvironment(details.environment)),
                kind: .grant, quantity: details.quantity,
                startsAt: Timestamp(millisecondsSince1970: details.startsAt),
                endsAt: details.endsAt.map { Timestamp(millisecondsSince1970: $0) }, entryKey: entry.key))
        let balances = try HandGrantWriter(transaction: transaction, app: app).write(row, kind: kind)
        let events = events(entry, app)
        try transaction.tell(events.granted(row, balances, reason: details.reason), to: customer.key)
    }

    func revoke(_ details: RevocationAddedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let customer = try existing(details.customer, app)
        guard let id = UUID(uuidString: details.revocationID) else { return }
        let grants = HandGrantsTable(connection: connection)
        var row = HandGrantRow(
            id: id, appKey: app.key, customerKey: customer.key, productKey: 0, environment: 0, kind: .revocation,
            quantity: 0, startsAt: leaf.at, endsAt: nil, entryKey: entry.key)
        if let transactionID = details.transactionID, let name = details.environment {
            let environment = AppStoreEnvironment(name)
            let key = TransactionKey(
                environment: environment, transactionID: ExactText(transactionID), second: details.second ?? 0)
            if let erased = transaction.erasures?.transactions[key] {
                let changes = LedgerChanges(transaction, app: app)
                try changes.claim(erased: erased)
                try changes.settle()
                try changes.finish(entry)
            }
            guard
                let purchase = try transaction.transactions.row(
                    key, environment: try transaction.environments.keyToWrite(of: environment))
            else {
                guard isOfEntriesAlone else {
                    return findings.add(impossible: leaf, "the purchase is not known")
                }
                // Without evidence there are no purchases. The end of the revocation refers to the row.
                _ = try grants.insert(row)
                return
            }
            (row.productKey, row.environment) = (purchase.productKey, purchase.environment)
            row.revokedOriginal = purchase.originalKey
            row.revokedShared = try purchase.observed(in: environment).ownership.holder != .buyer
        } else if let grantID = details.grantID.flatMap({ UUID(uuidString: $0) }),
            let grant = try grants.row(id: grantID)
        {
            (row.productKey, row.environment, row.revokedGrant) = (grant.productKey, grant.environment, grant.key)
        } else if !hasErasures {
            findings.add(impossible: leaf, "the grant is not known")
        }
        row = try grants.insert(row)
        try HandGrantWriter(transaction: transaction, app: app)
            .change(row, entry, .revocationAdded, reason: details.reason, customer: customer.key)
    }

    func lift(_ details: ActLiftedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let grants = HandGrantsTable(connection: connection)
        guard let id = UUID(uuidString: details.id), var row = try grants.row(id: id) else {
            if !hasErasures { findings.add(impossible: leaf, "the grant or revocation is not known") }
            return
        }
        if row.liftedAt != nil { findings.add(impossible: leaf, "the grant or revocation has ended before") }
        // It can be lifted through a later owner of the purchase.
        let customer = try customer(nil, app)?.key ?? row.customerKey
        row.liftedAt = leaf.at
        try grants.lift(row.key, at: leaf.at)
        try HandGrantWriter(transaction: transaction, app: app)
            .change(row, entry, .actLifted, reason: details.reason, customer: customer)
    }
}

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
