import PurchaseVerification

/// Adds to the entitlements of a customer that leave the ledger what the App Store signed about the purchases that they
/// rest on: renewal info, the number of seats, the reason of a revocation, and the time of the newest signature
/// (docs/ledger.md, "Renewal info of an entitlement", "Seats"). Adds the names of other shops that give them, too.
struct RenewalReading {
    let reader: LedgerTransaction
    let customer: CustomerRow
    let question: AccessQuestion

    /// The entitlements with the signed data about their purchases.
    func added(to entitlements: [Entitlement]) throws(LedgerStorageError) -> [Entitlement] {
        var entitlements = entitlements
        for index in entitlements.indices { entitlements[index] = try added(to: entitlements[index]) }
        return entitlements
    }

    /// An entitlement with the signed data about its purchase.
    ///
    /// - Parameters:
    ///   - history: the history of an original that is open, which need not be read again.
    ///   - purchases: its purchases.
    func added(
        to entitlement: Entitlement, knowing history: PurchaseHistory? = nil, _ purchases: [OwnedPurchase] = []
    ) throws(LedgerStorageError) -> Entitlement {
        var entitlement = entitlement
        if entitlement.state == .active {
            entitlement.sources = try HandGrantsTable(connection: reader.connection).sources(of: entitlement.grantKeys)
        }
        guard entitlement.restsOnSignedData, let id = entitlement.transactionID.map({ ExactText($0) }) else {
            return entitlement
        }
        // A transaction of the access tells its original, not the period that counts: consecutive periods are one step.
        if let history, let known = history.records.first(where: { Self.isMeant($0.facts, id, entitlement) }) {
            // A merge moved an original before it was opened, so its rows have no former owner.
            let own = purchases.filter { $0.ownership.holder == known.facts.holder }
            return added(to: entitlement, known, own, history.renewal)
        }
        for row in try reader.transactions.rows(id: id.string) {
            guard try reader.environments.environment(row.environment) == entitlement.environment else { continue }
            let record = TransactionRecord(
                row, facts: try row.observed(in: entitlement.environment), productID: entitlement.productID)
            guard Self.isMeant(record.facts, id, entitlement) else { continue }
            let renewal =
                entitlement.productKind == .autoRenewable
                ? try RenewalsTable(connection: reader.connection).facts(
                    record.facts.renewal, environment: row.environment) : nil
            var records: [TransactionRecord] = []
            for row in try reader.transactions.rows(originalKey: row.originalKey) {
                records.append(
                    TransactionRecord(row, facts: try row.observed(in: entitlement.environment), productID: ""))
            }
            let own = records.purchases(of: record.facts.holder, .stored(records))
            return added(to: entitlement, record, own, renewal)
        }
        return entitlement
    }

    private static func isMeant(_ facts: ObservedTransaction, _ id: ExactText, _ entitlement: Entitlement) -> Bool {
        facts.key.transactionID == id && facts.key.environment == entitlement.environment
            && facts.productID == ExactText(entitlement.productID)
    }

    /// The entitlement with what is signed about a purchase among those of one holder.
    private func added(
        to entitlement: Entitlement, _ record: TransactionRecord, _ purchases: [OwnedPurchase],
        _ renewal: ObservedRenewal?
    ) -> Entitlement {
        guard let productID = record.facts.productID else { return entitlement }
        var shown = entitlement
        let purchase: OwnedPurchase?
        if entitlement.productKind == .autoRenewable {
            let periods = purchases.filter { ($0.statedKind ?? $0.terms?.kind) == .autoRenewable }
            let subject = SubscriptionTable.Subject(
                productID: productID, owner: CustomerNumber(rawValue: customer.key))
            let counting = SubscriptionTable(periods, renewal: renewal).counting(for: subject, question)
            purchase = counting?.purchase
            shown.renewal = RenewalStatement.shown(counting?.renewal, with: purchase?.lastSigned)
            let stamps = [counting?.renewal?.stamp] + (purchase?.transactions.map(\.newestStamp) ?? [])
            shown.lastConfirmedAt = stamps.compactMap(\.self).filter { $0 > .epoch }.max()
            if record.facts.seats != nil, record.facts.ownership.holder == .buyer, entitlement.state == .active,
                !entitlement.isAssumed
            {
                let own = periods.filter { $0.owner == subject.owner }
                shown.seats = SubscriptionSeats(own, of: productID).number(question)
            }
        } else {
            purchase = purchases.first { $0.transactions.contains { $0.key == record.facts.key } }
        }
        if entitlement.reason?.isSignedRevocation ?? false {
            shown.cancelReason = purchase?.withdrawal?.appStoreReason
        }
        return shown
    }
}

extension Entitlement {
    /// Whether something signed is shown with it. What another product or another customer has now is not shown, and of
    /// what does not renew only the reason of a revocation.
    fileprivate var restsOnSignedData: Bool {
        productKind == .autoRenewable
            ? [.active, .expired, .withdrawn].contains(state) : reason?.isSignedRevocation ?? false
    }
}

extension NoAccessReason {
    fileprivate var isSignedRevocation: Bool { self == .revoked || self == .familyRevoked }
}

extension OwnedPurchase {
    /// Its transaction that was signed last; `nil` if only receipts prove it.
    fileprivate var lastSigned: ObservedTransaction? {
        let signed = transactions.compactMap { transaction in
            transaction.newestStamp.map { (transaction: transaction, stamp: $0) }
        }
        return signed.max { $0.stamp < $1.stamp }?.transaction
    }
}
