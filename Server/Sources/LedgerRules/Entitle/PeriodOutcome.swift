import PurchaseVerification

/// What came after the paid end of a period of a subscription, as it is known now.
package struct PeriodOutcome: Sendable {
    /// The end of the grace period after it; `nil` if there was none.
    package var graceUntil: Timestamp?
    /// When Apple stopped, or will stop, to collect the next price; `nil` if it did not try.
    package var retryUntil: Timestamp?
    /// When only a signed status revoked it.
    package var revokedAt: Timestamp?
    /// The newest signed renewal info about it.
    package var renewal: RenewalInfo?
}

extension SubscriptionTable {
    /// The outcome of each period, by its first transaction. A later period ends grace and retry of those before it.
    package var outcomes: [TransactionKey: PeriodOutcome] {
        var outcomes: [TransactionKey: PeriodOutcome] = [:]
        let changes = changes
        for (place, period) in periods.enumerated() {
            var outcome = PeriodOutcome()
            outcome.renewal = renewals.all(about: period).last?.info
            if let key = period.purchase.transaction, let end = period.end {
                if let status, status.stamp < end, isRevoked(period, by: status, status.stamp) {
                    outcome.revokedAt = status.stamp
                }
                let next = periods[(place + 1)...].first { $0.start > period.start }?.start
                let first = changes.leadingCount { $0 < end }
                for (moment, until) in zip(changes[first...], changes[first...].dropFirst()) {
                    if let next, next <= moment { break }
                    switch state(of: place, moment, 0).name {
                    case .inGrace: outcome.graceUntil = min(until, next ?? until)
                    case .billingRetry: outcome.retryUntil = min(until, next ?? until)
                    default: break
                    }
                }
                outcomes[key] = outcome
            }
        }
        return outcomes
    }
}
