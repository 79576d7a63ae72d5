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
            guard entitlement.productKind == .consumable else { return entitlement }
            let past = access.first {
                $0.productID == ExactText(entitlement.productID) && $0.environment == entitlement.environment
            }
            var entitlement = entitlement
            (entitlement.balance, entitlement.shortfall) = (past?.balance ?? 0, past?.shortfall ?? 0)
            // Without an answer, all lots are another customer's now, and nothing had been used of them yet.
            entitlement.reason = past.map(\.denial) ?? .ownedByAnother
            entitlement.state = Entitlement.State(entitlement.reason)
            return entitlement
        }
    }
}
