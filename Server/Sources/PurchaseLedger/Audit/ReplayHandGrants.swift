import PurchaseVerification

import struct Foundation.UUID

/// Grants and revocations by operators.
extension ReplayStep {
    func grant(_ details: HandGrantedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
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
        try events.write(events.granted(row, balances, reason: details.reason), customer: customer.key)
    }

    func revoke(_ details: HandRevokedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
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
            else { return }
            (row.productKey, row.environment) = (purchase.productKey, purchase.environment)
            row.revokedOriginal = purchase.originalKey
            row.revokedShared = try purchase.observed(in: environment).ownership.holder != .buyer
        } else if let grantID = details.grantID.flatMap({ UUID(uuidString: $0) }),
            let grant = try grants.row(id: grantID)
        {
            (row.productKey, row.environment, row.revokedGrant) = (grant.productKey, grant.environment, grant.key)
        }
        row = try grants.insert(row)
        try HandGrantWriter(transaction: transaction, app: app)
            .change(row, entry, .handRevoked, reason: details.reason, customer: customer.key)
    }

    func lift(_ details: HandLiftedDetails, _ entry: JournalEntry, _ app: RegistryApp) throws {
        let grants = HandGrantsTable(connection: connection)
        guard let id = UUID(uuidString: details.id), var row = try grants.row(id: id) else { return }
        row.liftedAt = leaf.at
        try grants.lift(row.key, at: leaf.at)
        try HandGrantWriter(transaction: transaction, app: app)
            .change(row, entry, .handLifted, reason: details.reason, customer: row.customerKey)
    }
}
