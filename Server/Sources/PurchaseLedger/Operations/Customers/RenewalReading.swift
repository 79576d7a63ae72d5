import PurchaseVerification

/// Adds signed renewal info to the entitlements that leave the ledger (docs/ledger.md, "Renewal info of an entitlement").
struct RenewalReading {
    let reader: LedgerTransaction
    let moment: Timestamp

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
        if let history, let known = history.records.first(where: { Self.isMeant($0.facts, id, entitlement) }) {
            shown.renewal = history.records.renewal(history.renewal, about: known.facts.key, at: moment)
            return shown
        }
        for row in try reader.transactions.rows(id: id.string) {
            guard try reader.environments.environment(row.environment) == entitlement.environment else { continue }
            let facts = try row.observed(in: entitlement.environment)
            guard Self.isMeant(facts, id, entitlement) else { continue }
            // Most customers' evidence has no renewal info.
            guard
                let renewal = try RenewalsTable(connection: reader.connection).facts(
                    facts.renewal, environment: row.environment)
            else { return entitlement }
            var records: [TransactionRecord] = []
            for row in try reader.transactions.rows(originalKey: row.originalKey) {
                records.append(
                    TransactionRecord(row, facts: try row.observed(in: entitlement.environment), productID: ""))
            }
            shown.renewal = records.renewal(renewal, about: facts.key, at: moment)
            return shown
        }
        return entitlement
    }

    private static func isMeant(_ facts: ObservedTransaction, _ id: ExactText, _ entitlement: Entitlement) -> Bool {
        facts.key.transactionID == id && facts.key.environment == entitlement.environment
            && facts.productID == ExactText(entitlement.productID)
    }
}

extension Entitlement {
    /// Whether it rests on the period of a subscription that counts. What another product or another customer has now is not shown.
    fileprivate var showsRenewal: Bool {
        productKind == .autoRenewable && [.active, .expired, .withdrawn].contains(state)
    }
}

extension [TransactionRecord] {
    /// The signed renewal info about the period of one of these transactions of an original.
    fileprivate func renewal(
        _ renewal: ObservedRenewal?, about key: TransactionKey, at moment: Timestamp
    ) -> RenewalStatement? {
        guard let renewal, let record = first(where: { $0.facts.key == key }) else { return nil }
        let periods = purchases(of: record.facts.ownership.holder, Ownership(owners: [:]))
            .filter { ($0.statedKind ?? $0.terms?.kind) == .autoRenewable }
        return SubscriptionTable(periods, renewal: renewal).renewal(about: key, at: moment)
    }
}
