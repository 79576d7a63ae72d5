import PurchaseVerification

/// Records the outcomes of deliveries, advances the cursor, and extends the lease.
public struct RecordDeliveries: LedgerOperation {
    public var lease: WebhookLease
    /// The events before the cursor that were not delivered.
    public var undelivered: [UndeliveredEvent]
    /// The outcomes of events that had rows.
    public var lanes: [LaneOutcome]

    /// Records results under a lease whose cursor advanced.
    public init(_ lease: WebhookLease, undelivered: [UndeliveredEvent] = [], lanes: [LaneOutcome] = []) {
        (self.lease, self.undelivered, self.lanes) = (lease, undelivered, lanes)
    }

    public var locks: LedgerLocks { .parts([lease.lock]) }

    /// - Returns: the customers without waiting events; `nil` if the lease was lost or an operator changed the webhook,
    ///   so that nothing was recorded.
    public func perform(_ transaction: LedgerTransaction) throws -> Set<Int64>? {
        let isKept = try WebhooksTable(connection: transaction.connection).advance(
            lease.key, owner: lease.owner, revision: lease.revision, to: lease.cursor, until: transaction.now.leaseEnd)
        guard isKept else { return nil }
        let table = WebhookDeliveriesTable(connection: transaction.connection)
        for event in undelivered { try table.put(event, webhook: lease.key) }
        var free: Set<Int64> = []
        for outcome in lanes {
            for event in outcome.delivered { try table.delete(event, webhook: lease.key) }
            for event in outcome.undelivered { try table.put(event, webhook: lease.key) }
            guard case .customer(let customer) = outcome.lane,
                outcome.undelivered.allSatisfy({ $0.nextAt == nil })
            else { continue }
            let goesOn = try table.makeNextDue(lane: customer, webhook: lease.key, at: transaction.now)
            if !goesOn { free.insert(customer) }
        }
        return free
    }
}
