import PurchaseVerification

/// Derives events from changes, and writes them.
struct EventWriter {
    let transaction: LedgerTransaction
    let app: RegistryApp
    let entry: JournalEntry
    /// Whether webhooks deliver the events.
    var isAnnounced = true

    /// A new event of this app and entry.
    func event(_ type: EventType) -> EventRow {
        var event = EventRow(type, appKey: app.key, entryKey: entry.key)
        event.figures.isAnnounced = isAnnounced
        return event
    }

    /// Adds a balance to an event in the form in which entitlements show it, under the setting `refund_shortfall`.
    func describe(_ event: inout EventRow, _ balance: EntitlementWriter.Balances.Value?) {
        guard let balance else {
            (event.figures.balance, event.figures.shortfall) = (nil, nil)
            return
        }
        var sum = ConsumableBalance()
        (sum.remaining, sum.shortfall) = (balance.balance, balance.shortfall)
        event.figures.balance = sum.available(under: app.settings.refundShortfall)
        event.figures.shortfall = sum.shortfall
    }

    /// Writes an event of a customer.
    func write(_ event: EventRow, customer: Int64?) throws(LedgerStorageError) {
        var event = event
        event.customerKey = customer
        try EventsTable(connection: transaction.connection).insert(event)
    }

    /// Writes the events of an original.
    func write(
        _ history: PurchaseHistory, balances: EntitlementWriter.Balances
    ) throws(LedgerStorageError) {
        let copies = history.copies
        let withdrawals = history.withdrawalNews(countingSeats: transaction.rules >= Self.rulesOfSeats)
        var byStatus: (before: Set<TransactionKey>, now: Set<TransactionKey>) = ([], [])
        if transaction.rules >= Self.rulesOfStatuses { byStatus = history.withdrawnByStatus(at: transaction.now) }
        for record in history.records {
            let key = record.facts.key
            var withdrawn = withdrawals[key]
            if byStatus.before.contains(key) != byStatus.now.contains(key) {
                // A revocation that was told already, by the status, is not told again.
                let quantity = record.facts.quantity
                let now = byStatus.now.contains(key) ? quantity : withdrawn?.now ?? 0
                withdrawn = (byStatus.before.contains(key) ? quantity : withdrawn?.before ?? 0, now)
            }
            for var event in events(of: record, in: history, isCopy: copies.contains(key), withdrawn: withdrawn) {
                if let former = record.formerRow?.ownerKey, former != record.row.ownerKey {
                    event.formerKey = former
                }
                if let owner = record.row.ownerKey, let balance = balances[owner] {
                    describe(&event, balance)
                }
                try write(event, customer: record.row.ownerKey)
                // A former owner also gets the event: the units that they used are now their shortfall.
                if event.type == .transferred, let former = record.formerRow?.ownerKey {
                    var loss = event
                    describe(&loss, balances[former])
                    loss.figures.reason = "to_another_customer"
                    try write(loss, customer: former)
                }
            }
        }
        try writeRenewal(of: history)
    }

    /// The first version of the rules under which a signed status withdraws.
    private static let rulesOfStatuses: Int64 = 4
    /// Before version 4 of the rules, every change of the signed content was an event, without the values.
    private static let rulesOfRenewalChanges: Int64 = 4
    /// The first version of the rules whose events of a renewal show its commitment.
    private static let rulesOfCommitments: Int64 = 5

    /// The first version of the rules under which seats that are added to a period, and refunds of seats, are told.
    private static let rulesOfSeats: Int64 = 6

    private func writeRenewal(of history: PurchaseHistory) throws(LedgerStorageError) {
        guard transaction.rules >= Self.rulesOfRenewalChanges else {
            guard history.renewal !== history.formerRenewal, history.formerRenewal?.info != history.renewal?.info,
                let record = history.records.last
            else { return }
            return try write(renewalOf: record, until: history.renewal?.info.graceEnd, nil)
        }
        guard let renewal = history.renewal, let record = history.renewingPeriod,
            let change = RenewalChange(
                from: history.toldRenewal, to: renewal,
                commitmentOf: transaction.rules >= Self.rulesOfCommitments ? record.facts : nil)
        else { return }
        try write(renewalOf: record, until: change.current.info.graceEnd, change)
    }

    private func write(
        renewalOf record: TransactionRecord, until end: Timestamp?, _ change: RenewalChange?
    ) throws(LedgerStorageError) {
        var event = event(.renewalChanged)
        describe(&event, record)
        (event.figures.until, event.figures.renewal) = (end, change)
        try write(event, customer: record.row.ownerKey)
    }

    /// The events of one transaction.
    ///
    /// - Parameters:
    ///   - isCopy: whether the owner has the purchase by another transaction, so that it is not granted again.
    ///   - withdrawn: the units that were and are withdrawn, if they changed and this transaction reports it.
    private func events(
        of record: TransactionRecord, in history: PurchaseHistory, isCopy: Bool, withdrawn: (before: Int64, now: Int64)?
    ) -> [EventRow] {
        var events: [EventRow] = []
        func add(_ type: EventType, _ change: (inout EventRow) -> Void = { _ in }) {
            var event = event(type)
            describe(&event, record)
            change(&event)
            events.append(event)
        }
        let (now, before) = (record.facts, record.formerFacts)
        for contradiction in record.contradictions { add(.contradicted) { $0.figures.reason = contradiction.rawValue } }
        switch (record.formerRow?.ownerKey, record.row.ownerKey) {
        case (nil, .some) where !isCopy:
            let isRenewal =
                record.row.kind == .autoRenewable
                && history.records.contains { $0.formerRow?.ownerKey != nil && $0.facts.key != record.facts.key }
                && !(transaction.rules >= Self.rulesOfSeats && history.isAddition(record))
            add(isRenewal ? .renewed : .granted) { $0.figures.units = now.quantity }
        case (.some(let former), .some(let owner)) where former != owner:
            add(.transferred) { $0.figures.units = now.quantity }
        default: break
        }
        let (unitsBefore, units) = withdrawn ?? (0, 0)
        if units > unitsBefore {
            add(.revoked) {
                $0.figures.units = units - unitsBefore
                if record.isCancelledByHint { $0.figures.reason = JournalKind.appStoreAnswer.name }
            }
        }
        if units < unitsBefore { add(.reversed) { $0.figures.units = unitsBefore - units } }
        if let before {
            if now.end != before.end, now.end != nil { add(.extended) }
            if now.upgradedAt != nil, before.upgradedAt == nil { add(.upgraded) }
            if record.row.kind != nil, record.formerRow?.kind == nil { add(.registered) }
        }
        return events
    }

    private func describe(_ event: inout EventRow, _ record: TransactionRecord) {
        event.productKey = record.row.productKey
        event.transactionKey = record.row.key
        event.originalKey = record.row.originalKey
        event.figures.until = record.facts.end
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

    /// The event of the decision about a claim that waited.
    func decided(_ claim: String, code: String) -> EventRow {
        var event = event(.claimDecided)
        event.figures.reason = code
        event.figures.submission = claim
        return event
    }

    /// An operator's grant.
    func granted(_ grant: HandGrantRow, _ balances: EntitlementWriter.Balances, reason: String) -> EventRow {
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
        _ units: Int64, of record: TransactionRecord, _ balance: EntitlementWriter.Balances.Value
    ) -> EventRow {
        var event = event(.consumed)
        (event.productKey, event.environment) = (record.row.productKey, record.row.environment)
        (event.figures.units, event.figures.reason) = (units, ImportedConsumables.delivered.rawValue)
        describe(&event, balance)
        return event
    }

    /// Writes the events of an order.
    ///
    /// - Parameters:
    ///   - balance: the customer's balance afterwards, if the order changed it.
    ///   - reason: the operator's reason.
    func write(
        order: OrderRow, former: OrderRow?, balance: EntitlementWriter.Balances.Value? = nil, reason: String? = nil
    ) throws(LedgerStorageError) {
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
        guard let type else { return }
        var event = event(type)
        event.orderKey = order.key
        event.productKey = order.productKey
        event.transactionKey = order.paidBy
        event.figures.units = delivered > 0 ? delivered : order.quantity
        event.figures.reason = reason
        describe(&event, balance)
        try write(event, customer: order.customerKey)
    }
}
