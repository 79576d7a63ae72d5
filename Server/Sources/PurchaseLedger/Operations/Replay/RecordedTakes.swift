import PurchaseVerification

import struct Foundation.UUID

/// The units that an entry took.
extension ReplayStep {
    /// Takes the recorded units from the recorded lots.
    ///
    /// - Parameter customer: the customer who used them.
    /// - Returns: the balance afterwards.
    @discardableResult
    func take(_ takes: [LotTake], by customer: Int64, _ write: EntryWrite) throws -> Balances.Value? {
        guard !isOfEntriesAlone else { return nil }
        var lots: [(lot: LotRow, units: Int64)] = []
        for take in takes where try !isOfAnother(take, customer, write) {
            guard let ground = try ground(of: take), let lot = try LotsTable(connection: connection).row(ground) else {
                throw LedgerStorageError(.corrupt, "entry \(leaf.id) takes from a lot that does not exist")
            }
            lots.append((lot, take.units))
        }
        guard !lots.isEmpty else { return nil }
        return try LotTaking(transaction: transaction).take(lots, by: customer).balance
    }

    /// Whether a later erasure removed the purchase by which the customer had the lot. Then the used units are
    /// recorded, and are a shortfall if the lot belongs to somebody else.
    func isOfAnother(_ take: LotTake, _ customer: Int64, _ write: EntryWrite) throws -> Bool {
        guard let erasures = transaction.erasures, let id = take.originalID else { return false }
        let key = OriginalKey(
            environment: AppStoreEnvironment(take.environment), transactionID: ExactText(id), second: take.second ?? 0)
        guard erasures.originals.contains(key) else { return false }
        // Without the original, only the erased customer's evidence proved it so far.
        guard let ground = try ground(of: take) ?? addErased(key, write) else { return true }
        let lot = try LotsTable(connection: connection).row(ground)
        if let lot, lot.customerKey == customer { return false }
        try TakesTable(connection: connection).add(take.units, from: ground, by: customer)
        guard let lot else { return true }
        _ = try transaction.entitlements.add(
            0, shortfall: take.units,
            to: EntitlementRow(
                balance: (0, 0), of: customer, product: lot.productKey, environment: lot.environment))
        return true
    }

    /// Adds the erased transactions of an original.
    private func addErased(_ key: OriginalKey, _ write: EntryWrite) throws -> Int64? {
        try write.erased(key)?.histories.first { $0.key == key && !$0.isNew }?.original.key
    }

    private func ground(of take: LotTake) throws -> Int64? {
        if let id = take.grantID.flatMap({ UUID(uuidString: $0) }) {
            return try HandGrantsTable(connection: connection).row(id: id).map { -$0.key }
        }
        let environment = AppStoreEnvironment(take.environment)
        let key = OriginalKey(
            environment: environment, transactionID: ExactText(take.originalID ?? ""), second: take.second ?? 0)
        return try OriginalsTable(connection: connection)
            .row(key, environment: try transaction.environments.keyToWrite(of: environment))?.key
    }
}
