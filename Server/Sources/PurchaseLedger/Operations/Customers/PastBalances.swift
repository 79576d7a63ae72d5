import PurchaseVerification

/// The balances of a customer at a past time: sums over their lots and consumptions, since the rows have only the
/// current sums.
struct PastBalances {
    let reader: LedgerTransaction
    let app: RegistryApp

    /// Replaces the balances in entitlements.
    func replace(
        _ entitlements: [UncountedEntitlement], customer: CustomerRow, at moment: Timestamp
    ) throws(LedgerStorageError) -> [UncountedEntitlement] {
        guard entitlements.contains(where: { $0.entitlement.productKind == .consumable }) else { return entitlements }
        let input = try BalanceInputReader(reader: reader, moment: moment).input(of: customer.key)
        let access = CustomerEntitlements(input).access(.at(moment), refundShortfall: app.settings.refundShortfall)
        return entitlements.map { uncounted in
            var entitlement = uncounted.entitlement
            guard entitlement.productKind == .consumable else { return uncounted }
            let past = access.first {
                $0.productID == ExactText(entitlement.productID) && $0.environment == entitlement.environment
                    && $0.kind == .consumable
            }
            (entitlement.balance, entitlement.shortfall) = (past?.balance ?? 0, past?.shortfall ?? 0)
            // Without a past balance, all lots belong to another customer now, and none of them had been used at that
            // time.
            entitlement.reason = past.map(\.denial) ?? .ownedByAnother
            entitlement.state = Entitlement.State(entitlement.reason)
            return UncountedEntitlement(entitlement: entitlement)
        }
    }
}
