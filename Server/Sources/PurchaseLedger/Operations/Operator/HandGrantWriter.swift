import PurchaseVerification

/// Writes the changes of a manual grant or revocation.
struct HandGrantWriter {
    let transaction: LedgerTransaction
    let app: RegistryApp

    private var grants: HandGrantsTable { HandGrantsTable(connection: transaction.connection) }

    /// Writes the access or the lot of a grant, reduced by its revocations.
    func write(_ grant: HandGrantRow, kind: ProductKind) throws(LedgerStorageError) -> Balances {
        let (handGrant, revocations) = try grants.grant(
            grant, kind: kind, product: try transaction.products.id(grant.productKey),
            environment: try transaction.environments.environment(grant.environment))
        let entitlements = CustomerEntitlements(
            EntitlementInput(
                customer: handGrant.customer, purchases: [], grants: [handGrant], revocations: revocations))
        if let ground = entitlements.grounds.first {
            try transaction.entitlements.write(
                EntitlementRow(
                    ground.timeline, kind, of: grant.customerKey, product: grant.productKey,
                    environment: grant.environment, ground: -grant.key))
        }
        guard let lot = entitlements.lots.first else { return [:] }
        let former = try LotsTable(connection: transaction.connection).row(-grant.key)
        var delta = Delta()
        delta.lots = [
            try transaction.change(
                of: -grant.key, environment: grant.environment, from: former,
                to: LotChange.Lot(lot, product: grant.productKey), isFirst: former == nil)
        ]
        return try transaction.apply(delta)
    }

    /// Recomputes the subject of a grant or a revocation, and writes the event.
    func change(
        _ row: HandGrantRow, _ entry: JournalEntry, _ type: EventType, reason: String?, customer: Int64
    ) throws {
        var balances: Balances = [:]
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
        let events = LedgerEvents(transaction, app: app, entry: entry)
        var event = events.event(type)
        (event.productKey, event.environment, event.figures.reason) = (row.productKey, row.environment, reason)
        events.describe(&event, balances[customer])
        try transaction.tell(event, to: customer)
    }
}
