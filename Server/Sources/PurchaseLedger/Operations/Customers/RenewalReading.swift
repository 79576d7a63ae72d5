import PurchaseVerification

/// Adds what was signed about the period of a subscription to the entitlements of a customer that leave the ledger: the renewal info
/// (docs/ledger.md, "Renewal info of an entitlement") and the number of seats ("Seats").
struct RenewalReading {
    let reader: LedgerTransaction
    let customer: CustomerRow
    let question: AccessQuestion

    /// The entitlements with the renewal info about the periods that they rest on.
    func added(to entitlements: [Entitlement]) throws(LedgerStorageError) -> [Entitlement] {
        var entitlements = entitlements
        for index in entitlements.indices { entitlements[index] = try added(to: entitlements[index]) }
        return entitlements
    }

    /// An entitlement with the renewal info about its period.
    ///
    /// - Parameter history: the history of an original that is open, which need not be read again.
    func added(
        to entitlement: Entitlement, knowing history: PurchaseHistory? = nil
    ) throws(LedgerStorageError) -> Entitlement {
        guard entitlement.showsRenewal, let id = entitlement.transactionID.map({ ExactText($0) }) else {
            return entitlement
        }
        var shown = entitlement
        // A transaction of the access tells its original, not the period that counts: consecutive periods are one step.
        if let history, let known = history.records.first(where: { Self.isMeant($0.facts, id, entitlement) }) {
            show(history.renewal, of: known, among: history.records, in: &shown)
            return shown
        }
        for row in try reader.transactions.rows(id: id.string) {
            guard try reader.environments.environment(row.environment) == entitlement.environment else { continue }
            let record = TransactionRecord(
                row, facts: try row.observed(in: entitlement.environment), productID: entitlement.productID)
            guard Self.isMeant(record.facts, id, entitlement) else { continue }
            // Most customers' evidence has neither renewal info nor seats.
            let renewal = try RenewalsTable(connection: reader.connection).facts(
                record.facts.renewal, environment: row.environment)
            guard renewal != nil || record.facts.seats != nil else { return entitlement }
            var records: [TransactionRecord] = []
            for row in try reader.transactions.rows(originalKey: row.originalKey) {
                records.append(
                    TransactionRecord(row, facts: try row.observed(in: entitlement.environment), productID: ""))
            }
            show(renewal, of: record, among: records, in: &shown)
            return shown
        }
        return entitlement
    }

    private static func isMeant(_ facts: ObservedTransaction, _ id: ExactText, _ entitlement: Entitlement) -> Bool {
        facts.key.transactionID == id && facts.key.environment == entitlement.environment
            && facts.productID == ExactText(entitlement.productID)
    }

    /// Shows what was signed about the period that counts, among the transactions of one original.
    private func show(
        _ renewal: ObservedRenewal?, of record: TransactionRecord, among records: [TransactionRecord],
        in entitlement: inout Entitlement
    ) {
        guard let productID = record.facts.productID else { return }
        let holder = record.facts.ownership.holder
        let periods = records.purchases(of: holder, Ownership.stored(records))
            .filter { ($0.statedKind ?? $0.terms?.kind) == .autoRenewable }
        let owner = CustomerNumber(rawValue: customer.key)
        if let renewal {
            entitlement.renewal = SubscriptionTable(periods, renewal: renewal).renewal(
                of: SubscriptionTable.Subject(productID: productID, owner: owner), question)
        }
        guard record.facts.seats != nil, holder == .buyer, entitlement.state == .active, !entitlement.isAssumed else {
            return
        }
        let seats = SubscriptionSeats(periods.filter { $0.owner == owner }, of: productID)
        entitlement.seats = seats.number(question)
    }
}

extension Entitlement {
    /// Whether it rests on the period of a subscription that counts. What another product or another customer has now is not shown.
    fileprivate var showsRenewal: Bool {
        productKind == .autoRenewable && [.active, .expired, .withdrawn].contains(state)
    }
}
