import Foundation

extension AppStore {
    /// Whether the developer can extend a subscription for its customer.
    enum Extensibility: Sendable {
        case extensible
        /// It is not active, was never paid for, or is in a free period.
        case ineligible
        /// It was extended twice within a year.
        case exhausted
    }

    /// Apple extends twice within this time.
    private static let extensionYear: TimeInterval = 365 * 86_400

    /// Apple, "Extend a Subscription Renewal Date": only active subscriptions with a paid period, outside of free
    /// offers, twice in 365 days for each customer.
    func extensibility(of subscription: StoreSubscription) -> Extensibility {
        guard subscription.status == .active, subscription.sharedFrom == nil,
            let period = state.transactions[subscription.transactionID], !period.isTrialPeriod,
            state.transactions.rows(ofGroup: subscription.owner).contains(where: {
                $0.originalTransactionID == subscription.originalTransactionID && $0.price > 0
            })
        else { return .ineligible }
        let recent = state.subscriptions.rows(ofGroup: subscription.owner)
            .flatMap { $0.extensions ?? [] }
            .filter { $0 > now.addingTimeInterval(-Self.extensionYear) }
        return recent.count < 2 ? .extensible : .exhausted
    }

    /// Extends the present period, and counts the extension for the customer.
    /// - Throws: `unknown_subscription`, `wrong_state`, `invalid_value`.
    mutating func extendRenewalOfCustomer(
        _ originalTransactionID: String, days: Int
    ) throws(StoreError) -> StoreSubscription {
        var subscription = try extendRenewal(of: originalTransactionID, days: days)
        subscription.extensions = (subscription.extensions ?? []) + [now]
        store(subscription)
        return subscription
    }

    /// Gives a purchase another app account token. Past periods of a subscription keep theirs; later ones get this one.
    /// - Parameter token: a UUID in small letters.
    /// - Throws: `unknown_transaction`.
    mutating func setAccountToken(_ token: String, of originalTransactionID: String) throws(StoreError) {
        let original = try transaction(originalTransactionID)
        let subscription = state.subscriptions[originalTransactionID]
        let present = subscription.map { periodTransactions(of: $0) } ?? [original]
        for transaction in present {
            for copy in copies(of: transaction.transactionID) { state.transactions[copy]?.appAccountToken = token }
        }
        let shown = state.transactions[subscription?.transactionID ?? originalTransactionID]
        record(
            .accountTokenSet, "\(original.productID) of \(original.customerID) has the app account token \(token)",
            shown, subscription)
    }
}
