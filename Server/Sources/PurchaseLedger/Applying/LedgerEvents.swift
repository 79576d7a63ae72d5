import PurchaseVerification

/// Derives events from changes, under one journal entry. It reads nothing and writes nothing: a `Delta` carries the
/// events.
struct LedgerEvents {
    let app: RegistryApp
    let entry: JournalEntry
    /// The time of the write.
    let now: Timestamp
    /// Whether webhooks deliver the events.
    let isAnnounced: Bool

    init(_ transaction: LedgerTransaction, app: RegistryApp, entry: JournalEntry, isAnnounced: Bool = true) {
        (self.app, self.entry, self.isAnnounced) = (app, entry, isAnnounced)
        now = transaction.now
    }

    /// A new event of this app and entry.
    func event(_ type: EventType) -> EventRow {
        var event = EventRow(type, appKey: app.key, entryKey: entry.key)
        event.figures.isAnnounced = isAnnounced
        return event
    }

    /// Adds a balance to an event in the form in which entitlements show it, under the setting `refund_shortfall`.
    func describe(_ event: inout EventRow, _ balance: Balances.Value?) {
        guard let balance else {
            (event.figures.balance, event.figures.shortfall) = (nil, nil)
            return
        }
        var sum = ConsumableBalance()
        (sum.remaining, sum.shortfall) = (balance.balance, balance.shortfall)
        event.figures.balance = sum.available(under: app.settings.refundShortfall)
        event.figures.shortfall = sum.shortfall
    }

    /// The events of an original.
    ///
    /// - Parameter balances: the balances that the write changed.
    func events(of history: PurchaseHistory, _ change: ChangedHistory, balances: Balances) -> [EventRow] {
        HistoryNews(change, at: now).news.compactMap { news in
            guard let record = history.index(of: news.transaction).map({ history.records[$0] }) else { return nil }
            var event = event(news.type)
            event.productKey = record.row.productKey
            event.transactionKey = record.row.key
            event.originalKey = record.row.originalKey
            (event.customerKey, event.formerKey) = (news.customer?.rawValue, news.former?.rawValue)
            (event.figures.units, event.figures.until) = (news.units, news.until)
            (event.figures.reason, event.figures.renewal) = (news.reason, news.renewal)
            if news.type != .renewalChanged { describe(&event, event.customerKey.flatMap { balances[$0] }) }
            return event
        }
    }

    /// The event of an App Store answer that contradicts a receipt. Both are kept, and nothing is revoked.
    func contradicted(by answer: AppStoreAnswerDetails, _ place: String) -> EventRow {
        var event = event(.contradicted)
        event.figures.reason = place
        event.figures.submission = answer.claim
        return event
    }

    /// The event of an App Store answer that refuses a purchase which stays granted.
    func notConfirmed(by answer: AppStoreAnswerDetails, code: String) -> EventRow {
        var event = event(.notConfirmed)
        event.figures.reason = code
        event.figures.submission = answer.claim
        return event
    }

    /// The event of a claim of a purchase that belongs to another customer.
    func conflict(over row: TransactionRow, of owner: Int64, order: Int64?) -> EventRow {
        var event = event(.claimConflict)
        (event.productKey, event.transactionKey, event.originalKey) = (row.productKey, row.key, row.originalKey)
        (event.formerKey, event.orderKey) = (owner, order)
        return event
    }

    /// The event of the decision about a claim that waited.
    func decided(_ claim: String, code: String) -> EventRow {
        var event = event(.claimDecided)
        event.figures.reason = code
        event.figures.submission = claim
        return event
    }

    /// An operator's grant.
    func granted(_ grant: HandGrantRow, _ balances: Balances, reason: String) -> EventRow {
        var event = event(.grantAdded)
        (event.productKey, event.environment) = (grant.productKey, grant.environment)
        (event.figures.units, event.figures.until, event.figures.reason) = (grant.quantity, grant.endsAt, reason)
        describe(&event, balances[grant.customerKey])
        return event
    }

    /// Units taken from a balance.
    func consumed(
        _ units: Int64, product: Int64, environment: Int64, of balance: Int64, shortfall: Int64
    ) -> EventRow {
        var event = event(.consumed)
        (event.productKey, event.environment, event.figures.units) = (product, environment, units)
        (event.figures.balance, event.figures.shortfall) = (balance - units, shortfall)
        return event
    }

    /// Units of an import that the existing system had delivered.
    func delivered(
        _ units: Int64, of record: TransactionRecord, _ balance: Balances.Value
    ) -> EventRow {
        var event = event(.consumed)
        (event.productKey, event.environment) = (record.row.productKey, record.row.environment)
        (event.figures.units, event.figures.reason) = (units, ImportedConsumables.delivered.rawValue)
        describe(&event, balance)
        return event
    }

    /// The event of an order; `nil` if nothing of it is told.
    ///
    /// - Parameters:
    ///   - balance: the customer's balance afterwards, if the order changed it.
    ///   - reason: the operator's reason.
    func event(
        of order: OrderRow, from former: OrderRow?, balance: Balances.Value? = nil,
        reason: String? = nil
    ) -> EventRow? {
        let delivered = order.fulfilledUnits - (former?.fulfilledUnits ?? 0)
        let type: EventType? =
            switch (former?.status, order.status) {
            case (nil, _): .orderCreated
            case (_, let status) where delivered > 0 && status != .fulfilled: .orderPartlyFulfilled
            case (.refunded, .paid), (.refunded, .fulfilled): .orderRestored
            case (_, .paid): .orderPaid
            case (_, .fulfilled): .orderFulfilled
            case (_, .closed): .orderClosed
            case (_, .cancelled): .orderCancelled
            case (_, .refunded): .orderRefunded
            case (_, .created): .orderReopened
            case (_, .expired): nil
            }
        guard let type else { return nil }
        var event = event(type)
        event.orderKey = order.key
        event.productKey = order.productKey
        event.transactionKey = order.paidBy
        event.customerKey = order.customerKey
        event.figures.units = delivered > 0 ? delivered : order.quantity
        event.figures.reason = reason
        describe(&event, balance)
        return event
    }
}
