import PurchaseVerification

/// The consumables of one piece of imported evidence that the existing system had delivered.
///
/// A lot that the customer had before, and a purchase that pays an order of the ledger, are left alone: the ledger
/// delivers them.
struct ImportedDelivery {
    /// What became of the consumables; `nil` if the evidence proves none.
    private(set) var choice: String?
    /// The units that were taken.
    private(set) var takes: [LotTake]?
    private let consumables: ImportedConsumables
    private let customer: CustomerRow
    private let changes: LedgerChanges
    private var taken: [Taken] = []

    private struct Taken {
        let record: TransactionRecord
        let units: Int64
        let balance: Balances.Value
    }

    init(_ consumables: ImportedConsumables, to customer: CustomerRow, _ changes: LedgerChanges) {
        (self.consumables, self.customer, self.changes) = (consumables, customer, changes)
    }

    /// Takes the lots that have just become the customer's, after the changes are settled.
    func take(
        _ proven: [ObservedTransaction], _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> ImportedDelivery {
        var delivery = self
        var originals: Set<Int64> = []
        for facts in proven {
            let environment = try transaction.environments.keyToWrite(of: facts.key.environment)
            guard let place = try changes.place(of: facts.key, environment: environment) else { continue }
            let history = changes.histories[place.history]
            let record = history.records[place.record]
            guard record.canBeConsumable else { continue }
            delivery.choice = consumables.rawValue
            guard consumables == .delivered, try isNew(record, in: history),
                originals.insert(history.original.key).inserted
            else { continue }
            let lot = changes.lot(in: place.history)
            let units = lot?.quantity ?? record.facts.quantity
            let taken = try LotTaking(transaction: transaction)
                .takeDelivered(units, of: history.original, lot, by: customer.key)
            changes.note(taken.lot ?? lot, in: place.history)
            delivery.takes = (delivery.takes ?? []) + taken.takes
            guard let balance = taken.balance else { continue }
            delivery.taken.append(Taken(record: record, units: units, balance: balance))
        }
        return delivery
    }

    /// Whether the purchase has just become the customer's, and pays no order.
    private func isNew(_ record: TransactionRecord, in history: PurchaseHistory) throws(LedgerStorageError) -> Bool {
        guard record.row.ownerKey == customer.key,
            history.everyRecord.allSatisfy({ $0.formerRow?.ownerKey != customer.key })
        else { return false }
        for copy in history.records where try changes.payments.order(paidBy: copy) != nil { return false }
        return true
    }

    /// Writes the events, under the entry of the import.
    func write(_ events: LedgerEvents, _ transaction: LedgerTransaction) throws(LedgerStorageError) {
        for taken in taken {
            try transaction.tell(events.delivered(taken.units, of: taken.record, taken.balance), to: customer.key)
        }
    }

    /// Takes recorded units again.
    ///
    /// - Parameter isErased: whether a later erasure removed the lot.
    mutating func repeatTakes(
        _ takes: [LotTake], _ transaction: LedgerTransaction, isErased: (LotTake) throws -> Bool
    ) throws {
        for take in takes where try !isErased(take) {
            let environment = AppStoreEnvironment(take.environment)
            let key = OriginalKey(
                environment: environment, transactionID: ExactText(take.originalID ?? ""), second: take.second ?? 0)
            guard
                let original = try OriginalsTable(connection: transaction.connection)
                    .row(key, environment: try transaction.environments.keyToWrite(of: environment))
            else { throw LedgerStorageError(.corrupt, "an import takes from a purchase that does not exist") }
            let lot = try LotsTable(connection: transaction.connection).row(original.key)
            let taken = try LotTaking(transaction: transaction)
                .takeDelivered(take.units, of: original, lot, by: customer.key)
            let record = changes.histories.first { $0.original.key == original.key }?.records.first(
                where: \.canBeConsumable)
            guard let balance = taken.balance, let record else { continue }
            self.taken.append(Taken(record: record, units: take.units, balance: balance))
        }
    }
}

extension TransactionRecord {
    /// Whether it is a consumable, or can be one under other settings.
    fileprivate var canBeConsumable: Bool {
        row.kind == .consumable || row.kind == nil && (facts.kind == nil || facts.kind == .consumable)
    }
}
