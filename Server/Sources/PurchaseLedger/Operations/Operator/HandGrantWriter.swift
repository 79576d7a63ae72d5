import PurchaseVerification

/// Writes the changes of a manual grant or revocation.
struct HandGrantWriter {
    let transaction: LedgerTransaction
    let app: RegistryApp

    private var grants: HandGrantsTable { HandGrantsTable(connection: transaction.connection) }

    /// Writes the access or the lot of a grant, reduced by its revocations.
    func write(_ grant: HandGrantRow, kind: ProductKind) throws(LedgerStorageError) -> EntitlementWriter.Balances {
        let revocations = try grants.revocations(ofGrant: grant.key)
        let end = [grant.endsAt, grant.liftedAt].compactMap(\.self).min()
        guard kind == .consumable else {
            let environment = try transaction.environments.environment(grant.environment)
            var list = SpanList()
            list.add(
                AccessSpan(
                    customer: CustomerNumber(rawValue: grant.customerKey),
                    productID: ExactText(try transaction.products.id(grant.productKey)), environment: environment,
                    kind: kind, source: .grant(grant.key), from: grant.startsAt, until: end, transaction: nil,
                    endReason: grant.liftedAt == nil ? .expired : .revokedByHand),
                revocations: revocations.map {
                    HandRevocation(target: .grant(grant.key), from: $0.startsAt, liftedAt: $0.liftedAt)
                })
            var row = EntitlementRow(
                customerKey: grant.customerKey, productKey: grant.productKey, environment: grant.environment,
                ground: -grant.key, kind: kind)
            row.timeline = StoredTimeline(SpanList.joined(list.spans)).encoded
            try transaction.entitlements.write(row)
            return [:]
        }
        let isWithdrawn = grant.liftedAt != nil || revocations.contains { $0.liftedAt == nil }
        let lot = LotRow(
            ground: -grant.key, customerKey: grant.customerKey, productKey: grant.productKey,
            environment: grant.environment, quantity: grant.quantity, withdrawn: isWithdrawn ? grant.quantity : 0,
            taken: 0, purchasedAt: grant.startsAt, reason: isWithdrawn ? .revokedByHand : nil)
        let former = try LotsTable(connection: transaction.connection).row(-grant.key)
        return try EntitlementWriter(transaction: transaction, app: app)
            .write(lot, former: former, ground: -grant.key, isFirst: former == nil)
    }

    /// Recomputes the subject of a grant or a revocation, and writes the event.
    func change(
        _ row: HandGrantRow, _ entry: JournalEntry, _ type: EventType, reason: String?, customer: Int64
    ) throws {
        var balances: EntitlementWriter.Balances = [:]
        if let original = row.revokedOriginal {
            let changes = LedgerChanges(transaction, app: app)
            let place = try changes.history(original)
            try changes.readRevocations(place)
            try changes.settle()
            balances[customer] = changes.balance(of: customer, in: place)
            try changes.finish(entry)
        } else if let grant = row.kind == .grant ? row : try row.revokedGrant.flatMap({ try grants.row(key: $0) }) {
            // The product kind at the time of the grant, whatever the settings are now.
            let former = try transaction.entitlements.row(
                grant.customerKey, product: grant.productKey, environment: grant.environment, ground: -grant.key)
            balances = try write(grant, kind: former?.kind ?? .consumable)
        }
        let events = EventWriter(transaction: transaction, app: app, entry: entry)
        var event = events.event(type)
        (event.productKey, event.environment, event.figures.reason) = (row.productKey, row.environment, reason)
        events.describe(&event, balances[customer])
        try events.write(event, customer: customer)
    }
}
