import PurchaseVerification

/// The rows that a decision changes. Decisions read nothing and write nothing; `LedgerTransaction.apply` is the one
/// place that writes what they give.
struct Delta {
    /// An order in its new state.
    struct ChangedOrder {
        let former: OrderRow
        let row: OrderRow
    }

    /// A customer's access to a product by one ground.
    struct ChangedAccess {
        let customer: Int64
        let product: Int64
        let environment: Int64
        let ground: Int64
        /// `nil` if nothing is left of it.
        let row: EntitlementRow?

        init(_ subject: EntitlementChange.Subject, _ row: EntitlementChange.Row, environment: Int64, ground: Int64) {
            let (customer, product) = (subject.customer.rawValue, subject.product)
            (self.customer, self.product, self.environment, self.ground) = (customer, product, environment, ground)
            self.row =
                switch row {
                case .access(let timeline, let kind):
                    EntitlementRow(
                        timeline, kind, of: customer, product: product, environment: environment, ground: ground)
                case .note(let reason):
                    EntitlementRow(
                        note: reason, of: customer, product: product, environment: environment, ground: ground)
                case .absent: nil
                }
        }
    }

    /// A lot, and the balances that change with it.
    struct ChangedLot {
        let ground: Int64
        let environment: Int64
        let change: LotChange

        /// The lot afterwards.
        var row: LotRow? { change.lot.map { LotRow($0, ground: ground, environment: environment) } }
    }

    /// What a subscription gives to those who claimed its seats.
    struct ChangedSeatAccess {
        let original: Int64
        let rows: [SeatAccessRow]
    }

    /// Access, in the order in which it is written.
    var access: [ChangedAccess] = []
    var seatAccess: [ChangedSeatAccess] = []
    var lots: [ChangedLot] = []
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
    ///
    /// - Returns: the balances that changed.
    @discardableResult
    func apply(_ delta: Delta) throws(LedgerStorageError) -> Balances {
        for access in delta.access {
            if let row = access.row {
                try entitlements.write(row)
            } else {
                try entitlements.delete(
                    access.customer, product: access.product, environment: access.environment, ground: access.ground)
            }
        }
        for seats in delta.seatAccess {
            try SeatAccessTable(connection: connection).write(seats.rows, original: seats.original)
            entitlementWrites?.forgetEverything()
        }
        var balances: Balances = [:]
        for lot in delta.lots { try apply(lot, &balances) }
        let acts = OwnershipActsTable(connection: connection)
        for move in delta.movedActs { try acts.move(move.transaction, to: move.original) }
        for act in delta.acts { try acts.insert(act) }
        for order in delta.orders {
            try orders.update(order.row, from: order.former.status)
            situation?.note(order.row)
        }
        for event in delta.events { try EventsTable(connection: connection).insert(event) }
        return balances
    }

    private func apply(_ lot: Delta.ChangedLot, _ balances: inout Balances) throws(LedgerStorageError) {
        let lots = LotsTable(connection: connection)
        func balance(_ customer: CustomerNumber, _ product: Int64) -> EntitlementRow {
            EntitlementRow(balance: (0, 0), of: customer.rawValue, product: product, environment: lot.environment)
        }
        for step in lot.change.steps {
            switch step {
            case .delete: try lots.delete(lot.ground)
            case .write(let written, let isNew):
                try lots.write(LotRow(written, ground: lot.ground, environment: lot.environment), isNew: isNew)
            case .add(let remaining, let shortfall, let customer, let product):
                balances[customer.rawValue] = try entitlements.add(
                    remaining, shortfall: shortfall, to: balance(customer, product))
            case .explain(let customer, let product): try entitlements.explain(balance(customer, product))
            }
        }
    }

    /// Writes one event of a customer.
    func tell(_ event: EventRow?, to customer: Int64?) throws(LedgerStorageError) {
        guard var event else { return }
        event.customerKey = customer
        try apply(Delta(events: [event]))
    }
}
