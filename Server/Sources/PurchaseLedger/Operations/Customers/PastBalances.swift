import PurchaseVerification

/// The balances of a customer at a past time: a sum over their lots and consumptions, since a row has the present sum only.
struct PastBalances {
    let reader: LedgerTransaction
    let app: RegistryApp

    /// Replaces the balances among entitlements.
    func replace(
        _ entitlements: [Entitlement], customer: CustomerRow, at moment: Timestamp
    ) throws(LedgerStorageError) -> [Entitlement] {
        guard entitlements.contains(where: { $0.productKind == .consumable }) else { return entitlements }
        let input = try EntitlementInputReader(reader: reader).input(of: customer.key)
        let access = CustomerEntitlements(input).access(at: moment, refundShortfall: app.settings.refundShortfall)
        return entitlements.map { entitlement in
            guard entitlement.productKind == .consumable,
                let past = access.first(where: {
                    $0.productID == ExactText(entitlement.productID) && $0.environment == entitlement.environment
                })
            else { return entitlement }
            var entitlement = entitlement
            (entitlement.balance, entitlement.shortfall) = (past.balance, past.shortfall)
            entitlement.reason = past.denial
            entitlement.state = Entitlement.State(past.denial)
            return entitlement
        }
    }
}
