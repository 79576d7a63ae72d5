import PurchaseVerification

import struct Foundation.UUID

/// Reads everything that determines a customer's entitlements: facts, acts and the journal.
struct EntitlementInputReader {
    let reader: LedgerTransaction

    func input(of customer: Int64) throws(LedgerStorageError) -> EntitlementInput {
        let connection = reader.connection
        let number = CustomerNumber(rawValue: customer)
        var input = EntitlementInput(customer: number, purchases: [])
        let keys = try reader.keys(of: customer)
        var originals: Set<Int64> = []
        for key in keys {
            originals.formUnion(try reader.transactions.originals(of: key))
            // Lots that the customer used and that belong to others now.
            originals.formUnion(try TakesTable(connection: connection).grounds(of: key).filter { $0 > 0 })
        }
        for key in originals.sorted() {
            let original = try OriginalsTable(connection: connection).row(key)
            let history = try HistoryReader(transaction: reader).history(original)
            for holder in history.holders {
                input.purchases += history.purchases(of: holder, Ownership.stored(history, counting: keys))
                input.revocations += history.handRevocations(of: holder)
                input.statuses[OwnershipKey(original: history.key, holder: holder)] = history.status(of: holder)
            }
            if let renewal = history.renewal { input.renewals[renewal.key] = renewal }
        }
        let grants = HandGrantsTable(connection: connection)
        for row in try grants.rows(of: customer) where row.kind == .grant {
            let (grant, revocations) = try grants.grant(
                row, kind: try kind(of: row), product: try reader.products.id(row.productKey),
                environment: try reader.environments.environment(row.environment))
            input.grants.append(grant)
            input.revocations += revocations
        }
        input.consumptions = try consumptions(of: customer)
        return input
    }

    /// A grant with a lot is one of a consumable.
    private func kind(of grant: HandGrantRow) throws(LedgerStorageError) -> ProductKind {
        if try LotsTable(connection: reader.connection).row(-grant.key) != nil { return .consumable }
        return try reader.entitlements.row(
            grant.customerKey, product: grant.productKey, environment: grant.environment, ground: -grant.key)?.kind
            ?? .nonConsumable
    }

    /// The customer's consumption with its lots, from the journal: units that were consumed, delivered with an order,
    /// or delivered before an import.
    private func consumptions(of customer: Int64) throws(LedgerStorageError) -> [ConsumedUnits] {
        let journal = JournalTable(connection: reader.connection)
        var consumptions: [ConsumedUnits] = []
        for row in try consumptionRows(of: customer) {
            guard let entry = try journal.row(key: row.entryKey), let details = entry.details else { continue }
            let consumed = try ConsumedDetails(encoded: details)
            var takings: [ConsumedUnits.Taking] = []
            for take in consumed.takes {
                guard let source = try source(of: take) else { continue }
                takings.append(ConsumedUnits.Taking(lot: source, units: take.units))
            }
            consumptions.append(
                ConsumedUnits(
                    customer: CustomerNumber(rawValue: customer), productID: ExactText(consumed.productID),
                    environment: AppStoreEnvironment(consumed.environment), date: entry.at, takings: takings))
        }
        for entry in try journal.rows(customer: customer, kind: Int64(JournalKind.orderFulfilled.rawValue)) {
            guard let details = entry.details else { continue }
            consumptions += try delivered(
                try OrderFulfilledDetails(encoded: details).takes, to: customer, at: entry.at)
        }
        for entry in try journal.rows(customer: customer, kind: Int64(JournalKind.claim.rawValue)) {
            guard let details = entry.details, let takes = try ClaimDetails(encoded: details).imported?.takes else {
                continue
            }
            consumptions += try delivered(takes, to: customer, at: entry.at)
        }
        return consumptions
    }

    /// The customer's consumptions, with those that a merge still moves to them.
    private func consumptionRows(of customer: Int64) throws(LedgerStorageError) -> [ConsumptionRow] {
        let table = ConsumptionsTable(connection: reader.connection)
        var rows = try table.rows(of: customer)
        for key in try reader.keys(of: customer).dropFirst() {
            let movable = Set(try table.movable(from: key, to: customer, limit: .max))
            rows += try table.rows(of: key).filter { movable.contains($0.consumptionID) }
        }
        return rows
    }

    /// Units of purchases whose entry does not name the product, which is that of the lot.
    private func delivered(
        _ takes: [LotTake], to customer: Int64, at date: Timestamp
    ) throws(LedgerStorageError) -> [ConsumedUnits] {
        var consumptions: [ConsumedUnits] = []
        for take in takes {
            guard let id = take.originalID, let source = try source(of: take) else { continue }
            let environment = AppStoreEnvironment(take.environment)
            let key = OriginalKey(environment: environment, transactionID: ExactText(id), second: take.second ?? 0)
            guard let number = try reader.environments.key(of: environment),
                let original = try OriginalsTable(connection: reader.connection).row(key, environment: number),
                let lot = try LotsTable(connection: reader.connection).row(original.key)
            else { continue }
            consumptions.append(
                ConsumedUnits(
                    customer: CustomerNumber(rawValue: customer),
                    productID: ExactText(try reader.products.id(lot.productKey)), environment: environment, date: date,
                    takings: [ConsumedUnits.Taking(lot: source, units: take.units)]))
        }
        return consumptions
    }

    private func source(of take: LotTake) throws(LedgerStorageError) -> AccessSource? {
        if let id = take.originalID {
            let key = OriginalKey(
                environment: AppStoreEnvironment(take.environment), transactionID: ExactText(id),
                second: take.second ?? 0)
            return .purchase(OwnershipKey(original: key))
        }
        guard let id = take.grantID.flatMap({ UUID(uuidString: $0) }),
            let grant = try HandGrantsTable(connection: reader.connection).row(id: id)
        else { return nil }
        return .grant(grant.key)
    }
}
