import PurchaseVerification

/// The units of a paid order that can still be delivered.
struct OrderDelivery {
    /// The units that are neither delivered, consumed nor refunded.
    let remaining: Int64
    private let quantity: Int64
    /// The lot of a consumable.
    private let lot: LotRow?

    /// - Parameter customer: the customer of the order.
    init(
        of order: OrderRow, to customer: CustomerRow, _ transaction: LedgerTransaction, _ app: RegistryApp
    ) throws(LedgerStorageError) {
        quantity = order.quantity
        let ordered = max(0, order.quantity - order.fulfilledUnits)
        guard let key = order.paidBy, let paid = try transaction.transactions.row(key) else {
            (lot, remaining) = (nil, ordered)
            return
        }
        guard paid.kind == .consumable else {
            let facts = try paid.observed(in: try transaction.environments.environment(paid.environment))
            var withdrawals = PurchaseWithdrawals(transaction)
            // Any refund of an indivisible purchase refunds its order, but seats are refunded one by one.
            let withdrawn =
                paid.kind == .nonRenewing
                ? try withdrawals.withdrawal(of: paid)?.units ?? 0 : facts.refundedSeats
            (lot, remaining) = (nil, max(0, min(ordered, order.quantity - withdrawn - order.fulfilledUnits)))
            return
        }
        let found = try LotsTable(connection: transaction.connection).row(paid.originalKey)
        lot = found.flatMap { $0.customerKey == customer.key ? $0 : nil }
        remaining = min(ordered, lot?.available ?? 0)
    }

    /// The units that a request takes.
    ///
    /// - Parameter requested: the number in the request; `nil` for the order as a whole.
    /// - Throws: `order_consumed` if nothing remains, or less than the whole order.
    func units(_ requested: Int64?) throws(LedgerRefusal) -> Int64 {
        let units = min(requested ?? quantity, remaining)
        guard units > 0, requested != nil || units == quantity else {
            throw LedgerRefusal(.orderConsumed, expected: "\(requested ?? quantity)", found: "\(remaining)")
        }
        return units
    }

    /// Takes units from the lot of a consumable.
    func take(
        _ units: Int64, by customer: CustomerRow, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> LotTaking.Taken {
        guard let lot else { return LotTaking.Taken() }
        return try LotTaking(transaction: transaction).take([(lot, units)], by: customer.key)
    }
}
