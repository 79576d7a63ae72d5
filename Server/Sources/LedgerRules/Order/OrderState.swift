/// An order, as far as decisions about its payment go.
package struct OrderState: Sendable, Equatable {
    /// The number of the order.
    package let key: Int64
    /// Its customer, after all merges.
    package let customer: CustomerNumber
    /// The recorded state, which is never `expired`.
    package var status: OrderStatus
    /// The transaction that pays it; `nil` if none does, or one that the decision is not about.
    package var paidBy: TransactionKey?
    package var paidAt: Timestamp?
    /// When it was cancelled, closed or refunded.
    package var closedAt: Timestamp?
    /// Units that were delivered.
    package let fulfilledUnits: Int64
    /// Whether it was delivered as a whole.
    package let wasFulfilled: Bool

    package init(
        key: Int64, customer: CustomerNumber, status: OrderStatus, paidBy: TransactionKey? = nil,
        paidAt: Timestamp? = nil, closedAt: Timestamp? = nil, fulfilledUnits: Int64 = 0, wasFulfilled: Bool = false
    ) {
        (self.key, self.customer, self.status, self.paidBy) = (key, customer, status, paidBy)
        (self.paidAt, self.closedAt) = (paidAt, closedAt)
        (self.fulfilledUnits, self.wasFulfilled) = (fulfilledUnits, wasFulfilled)
    }

    /// Whether it is paid, and nothing of it was delivered.
    package var isUndelivered: Bool { status == .paid && fulfilledUnits == 0 }
}
