import PurchaseVerification

/// The rows that a decision changes. Decisions read nothing and write nothing; `LedgerTransaction.apply` is the one
/// place that writes what they give.
struct Delta {
    /// An order in its new state.
    struct ChangedOrder {
        let former: OrderRow
        let row: OrderRow
    }

    /// The acts that are new, under their entry.
    var acts: [OwnershipActRow] = []
    /// Transactions that are of another original now, so that their acts follow them.
    var movedActs: [(transaction: Int64, original: Int64)] = []
    /// Orders that were changed, in the order in which they are written: a transaction pays only one at a time.
    var orders: [ChangedOrder] = []
    /// The events, in the order in which they are told.
    var events: [EventRow] = []
}

extension LedgerTransaction {
    /// Writes what a decision changes.
    func apply(_ delta: Delta) throws(LedgerStorageError) {
        let acts = OwnershipActsTable(connection: connection)
        for move in delta.movedActs { try acts.move(move.transaction, to: move.original) }
        for act in delta.acts { try acts.insert(act) }
        for order in delta.orders {
            try orders.update(order.row, from: order.former.status)
            situation?.note(order.row)
        }
        for event in delta.events { try EventsTable(connection: connection).insert(event) }
    }

    /// Writes one event of a customer.
    func tell(_ event: EventRow?, to customer: Int64?) throws(LedgerStorageError) {
        guard var event else { return }
        event.customerKey = customer
        try apply(Delta(events: [event]))
    }
}
