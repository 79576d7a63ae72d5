import PurchaseVerification

/// What a subscription whose members the backend invites gives to those who claimed its seats (docs/ledger.md,
/// "Seats").
public enum SeatGrounds {
    /// - Parameters:
    ///   - purchases: those of the purchaser, with any owner.
    ///   - renewal: the renewal facts of the original.
    ///   - revocations: the manual revocations of the purchaser's purchases.
    ///   - status: the newest signed status of the purchaser's subscription.
    /// - Returns: the access by product, for products of which a transaction has `invitationManagement: DEVELOPER`.
    public static func access(
        of purchases: [OwnedPurchase], renewal: ObservedRenewal?, revocations: [HandRevocation] = [],
        status: SignedStatus? = nil
    ) -> [ExactText: SeatAccess] {
        let periods = purchases.filter { ($0.statedKind ?? $0.terms?.kind) == .autoRenewable }
        let ours = periods.filter { $0.transactions.contains(where: \.isInvitedByBackend) }
        let products = Set(ours.compactMap(\.productID))
        guard !products.isEmpty else { return [:] }
        let table = SubscriptionTable(periods, renewal: renewal, status: status)
        var access: [ExactText: SeatAccess] = [:]
        for product in products {
            let seats = SubscriptionSeats(ours, of: product)
            var (steps, numbers): ([AccessTimeline.Step], [SeatAccess.Number]) = ([], [])
            for moment in table.changes {
                // The purchaser's account does not matter: the period can be held, or its periods can have several
                // owners.
                let states = table.states(.at(moment)).filter { $0.key.productID == product }.values
                guard let state = states.max(by: isLess), state.reason != .notStarted || !steps.isEmpty else {
                    continue
                }
                steps.append(
                    AccessTimeline.Step(
                        at: moment, lead: table.lead(at: moment), reason: state.reason, transaction: state.transaction))
                numbers.append(SeatAccess.Number(at: moment, seats: seats.number(.at(moment)) ?? 0))
            }
            access[product] = SeatAccess(timeline: AccessTimeline(steps.revoked(by: revocations)), numbers: numbers)
        }
        return access
    }

    /// Whether a state represents the product rather than another: the one with access, then the one that ends last.
    private static func isLess(_ left: SubscriptionState, _ right: SubscriptionState) -> Bool {
        if left.givesAccess != right.givesAccess { return right.givesAccess }
        let ends = (left.until ?? .epoch, right.until ?? .epoch)
        if ends.0 != ends.1 { return ends.0 < ends.1 }
        let ids = (left.transaction?.transactionID ?? "", right.transaction?.transactionID ?? "")
        if ids.0 != ids.1 { return ExactText.isNumericallyBefore(ids.0, ids.1) }
        return (left.reason?.rawValue ?? "") < (right.reason?.rawValue ?? "")
    }
}

extension ObservedTransaction {
    /// Whether it bought seats whose members the backend invites, so that they have no transactions.
    package var isInvitedByBackend: Bool { seats?.invitationManagement == "DEVELOPER" && ownership.holder == .buyer }
}
