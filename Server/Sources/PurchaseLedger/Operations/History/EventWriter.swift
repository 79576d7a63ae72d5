import Foundation
import PurchaseVerification

/// Derives events from what changed, and writes them.
struct EventWriter {
    let transaction: LedgerTransaction
    let app: RegistryApp
    let entry: JournalEntry
    private var names: [Int64: String?] = [:]
    private var productIDs: [Int64: String] = [:]
    private var payments: [Int64: (transactionID: String, environment: String)] = [:]

    init(transaction: LedgerTransaction, app: RegistryApp, entry: JournalEntry) {
        self.transaction = transaction
        self.app = app
        self.entry = entry
    }

    /// Remembers a customer's name.
    mutating func know(_ customer: CustomerRow) { names[customer.key] = .some(customer.name) }

    /// Remembers what orders say of a purchase.
    mutating func know(_ history: PurchaseHistory) {
        for record in history.records {
            productIDs[record.row.productKey] = record.productID
            payments[record.row.key] = (record.row.transactionID, record.facts.key.environment.name)
        }
    }

    /// A new event of this app and time.
    func event(_ type: EventType) -> LedgerEvent { LedgerEvent(type, at: transaction.now, app: app.settings.id) }

    /// Adds a balance to an event as entitlements show it, under the setting `refund_shortfall`.
    func describe(_ event: inout LedgerEvent, _ balance: EntitlementWriter.Balances.Value?) {
        guard let balance else {
            (event.balance, event.shortfall) = (nil, nil)
            return
        }
        var sum = ConsumableBalance()
        (sum.remaining, sum.shortfall) = (balance.balance, balance.shortfall)
        event.balance = sum.available(under: app.settings.refundShortfall)
        event.shortfall = sum.shortfall
    }

    /// Writes an event of a customer.
    mutating func write(_ event: LedgerEvent, customer: Int64?) throws(LedgerStorageError) {
        var event = event
        if let customer { event.customerID = try name(customer) }
        let body = try EventBody(event, entryID: entry.id).encoded()
        try EventsTable(connection: transaction.connection).insert(
            EventRow(
                appKey: app.key, entryKey: entry.key, customerKey: customer, type: event.type.rawValue, body: body))
    }

    /// Writes the events of an original.
    mutating func write(
        _ history: PurchaseHistory, balances: EntitlementWriter.Balances
    ) throws(LedgerStorageError) {
        for record in history.records {
            for var event in events(of: record, in: history) {
                if let former = record.formerRow?.ownerKey, former != record.row.ownerKey {
                    event.formerCustomerID = try name(former)
                }
                if let owner = record.row.ownerKey, let balance = balances[owner] {
                    describe(&event, balance)
                }
                try write(event, customer: record.row.ownerKey)
                // A former owner hears of it, too: what they used of it is their shortfall now.
                if event.type == .transferred, let former = record.formerRow?.ownerKey {
                    var loss = event
                    describe(&loss, balances[former])
                    loss.reason = "to_another_customer"
                    try write(loss, customer: former)
                }
            }
        }
        if history.renewal !== history.formerRenewal, history.formerRenewal?.info != history.renewal?.info,
            let record = history.records.last
        {
            var event = event(.renewalChanged)
            describe(&event, record)
            event.until = history.renewal?.info.graceEnd
            try write(event, customer: record.row.ownerKey)
        }
    }

    /// The events of one transaction.
    private func events(of record: TransactionRecord, in history: PurchaseHistory) -> [LedgerEvent] {
        var events: [LedgerEvent] = []
        func add(_ type: EventType, _ change: (inout LedgerEvent) -> Void = { _ in }) {
            var event = event(type)
            describe(&event, record)
            change(&event)
            events.append(event)
        }
        let (now, before) = (record.facts, record.formerFacts)
        for contradiction in record.contradictions { add(.contradicted) { $0.reason = contradiction.rawValue } }
        switch (record.formerRow?.ownerKey, record.row.ownerKey) {
        case (nil, .some):
            let isRenewal =
                record.row.kind == .autoRenewable
                && history.records.contains { $0.formerRow?.ownerKey != nil && $0.facts.key != record.facts.key }
            add(isRenewal ? .renewed : .granted) { $0.units = now.quantity }
        case (.some(let former), .some(let owner)) where former != owner:
            add(.transferred) { $0.units = now.quantity }
        default: break
        }
        let (unitsBefore, units) = (before?.withdrawal?.units ?? 0, now.withdrawal?.units ?? 0)
        if units > unitsBefore { add(.revoked) { $0.units = units - unitsBefore } }
        if units < unitsBefore { add(.reversed) { $0.units = unitsBefore - units } }
        if let before {
            if now.end != before.end, now.end != nil { add(.extended) }
            if now.upgradedAt != nil, before.upgradedAt == nil { add(.upgraded) }
            if record.row.kind != nil, record.formerRow?.kind == nil { add(.registered) }
        }
        return events
    }

    private func describe(_ event: inout LedgerEvent, _ record: TransactionRecord) {
        event.environment = record.facts.key.environment.name
        event.productID = record.productID
        event.transactionID = record.facts.key.transactionID.string
        event.originalTransactionID = record.facts.original.transactionID.string
        event.until = record.facts.end
    }

    /// Writes what happened to an order.
    ///
    /// - Parameter balance: the customer's balance afterwards, if the order changed it.
    mutating func write(
        order: OrderRow, former: OrderRow?, balance: EntitlementWriter.Balances.Value? = nil
    ) throws(LedgerStorageError) {
        let type: EventType? =
            switch (former?.status, order.status) {
            case (nil, _): .orderCreated
            case (.refunded, .paid), (.refunded, .fulfilled): .orderRestored
            case (_, .paid): .orderPaid
            case (_, .fulfilled): .orderFulfilled
            case (_, .cancelled): .orderCancelled
            case (_, .refunded): .orderRefunded
            case (_, .created): .orderReopened
            case (_, .expired): nil
            }
        guard let type else { return }
        var event = event(type)
        event.orderID = order.id
        event.productID = productIDs[order.productKey]
        if event.productID == nil { event.productID = try transaction.products.id(order.productKey) }
        event.units = order.quantity
        describe(&event, balance)
        if let key = order.paidBy {
            if payments[key] == nil, let row = try transaction.transactions.row(key) {
                let environment = try transaction.environments.environment(row.environment)
                payments[key] = (row.transactionID, environment.name)
            }
            (event.transactionID, event.environment) = (payments[key]?.transactionID, payments[key]?.environment)
        }
        try write(event, customer: order.customerKey)
    }

    private mutating func name(_ customer: Int64) throws(LedgerStorageError) -> String? {
        if let known = names[customer] { return known }
        let name = try transaction.customers.row(customer).name
        names[customer] = .some(name)
        return name
    }
}

extension EventBody {
    init(_ event: LedgerEvent, entryID: UUID) {
        type = event.type.rawValue
        at = "\(event.at)"
        app = event.app
        customer_id = event.customerID
        former_customer_id = event.formerCustomerID
        environment = event.environment
        product_id = event.productID
        transaction_id = event.transactionID
        original_transaction_id = event.originalTransactionID
        order_id = event.orderID?.uuidString.lowercased()
        units = event.units
        balance = event.balance
        shortfall = event.shortfall
        until = event.until.map { "\($0)" }
        reason = event.reason
        entry_id = entryID.uuidString.lowercased()
    }

    init(encoded: [UInt8]) throws(LedgerStorageError) {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(encoded))
        } catch {
            throw LedgerStorageError(.corrupt, "an event cannot be read: \(error)")
        }
    }

    func encoded() throws(LedgerStorageError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return [UInt8](try encoder.encode(self))
        } catch {
            throw LedgerStorageError(.other, "an event cannot be encoded: \(error)")
        }
    }
}
