import Crypto
public import Foundation

extension AppStore {
    /// The customer requests a refund; the store asks the app for the consumption.
    /// - Throws: `unknown_transaction`, `wrong_state`.
    @discardableResult
    public mutating func askForRefund(of transactionID: String) throws(StoreError) -> StoreTransaction {
        let transaction = try refundable(transactionID)
        if state.summary.refundOdds != nil {
            var requests = state.summary.refundRequests ?? [:]
            requests[transactionID] = RefundRequest(date: now)
            state.summary.refundRequests = requests
        }
        record(
            .refundAsked, "\(transaction.customerID) asks for a refund of \(transaction.productID)", transaction,
            state.subscriptions[transaction.originalTransactionID], notify: ("CONSUMPTION_REQUEST", nil))
        return transaction
    }

    /// The store declines the refund.
    /// - Throws: `unknown_transaction`, `wrong_state`.
    @discardableResult
    public mutating func declineRefund(of transactionID: String) throws(StoreError) -> StoreTransaction {
        let transaction = try refundable(transactionID)
        forgetRefundRequest(of: transactionID)
        record(
            .refundDeclined, "\(transaction.productID) is not refunded", transaction,
            state.subscriptions[transaction.originalTransactionID], notify: ("REFUND_DECLINED", nil))
        return transaction
    }

    /// Refunds a transaction, in full or in part. A subscription ends if its present period is refunded, even in part,
    /// and shared copies of the transaction are revoked.
    /// - Parameters:
    ///   - reason: 1 for a problem with the app, 0 for anything else.
    ///   - percentage: how much is refunded with all earlier refunds of the transaction, in thousandths of a percent, 1
    ///     to
    ///     100,000, and more than before; nil for all of it. One of three units is 33,333.
    /// - Throws: `unknown_transaction`, `wrong_state`, `invalid_value`.
    @discardableResult
    public mutating func refund(
        _ transactionID: String, reason: Int = 0, percentage: Int64? = nil
    ) throws(StoreError) -> StoreTransaction {
        try require(reason == 0 || reason == 1, .invalidValue, "The reason is 0 or 1, not \(reason).")
        let whole = StoreTransaction.Revocation.wholePercentage
        try require(
            (1...whole).contains(percentage ?? whole), .invalidValue,
            "A refund is 1 to \(whole) thousandths of a percent, not \(percentage ?? whole).")
        var transaction = try refundable(transactionID)
        guard percentage == nil || transaction.seats == nil else {
            throw StoreError(.invalidValue, "Seats are refunded by their number, not by a percentage.")
        }
        let earlier = transaction.revocation?.percentage ?? 0
        try require(
            percentage ?? whole > earlier, .wrongState,
            "\(earlier) thousandths of a percent of the transaction '\(transactionID)' are already refunded.")
        forgetRefundRequest(of: transactionID)
        transaction.revocation = StoreTransaction.Revocation(
            date: now, reason: reason, kind: .refund, percentage: percentage)
        if transaction.seats != nil { return refundAllSeats(of: transaction, subtype: nil) }
        let copies = copies(of: transactionID)
        var subscription: StoreSubscription?
        for copy in copies {
            state.transactions[copy]?.revocation = transaction.revocation
            subscription = revokeSubscription(of: copy)
        }
        let part = transaction.revocation?.isPartial == true ? "refunded in part" : "refunded"
        record(
            .refunded, "\(transaction.productID) is \(part) to \(transaction.customerID)", transaction, subscription,
            notify: ("REFUND", nil))
        // A restored copy ends with its source.
        for shared in copies.flatMap(sharedTransactions) where shared.restoredFrom == nil { revokeShared(shared) }
        return transaction
    }

    /// Reverses all refunds of a transaction. A subscription continues if its period or its grace period has not ended.
    /// - Throws: `unknown_transaction`, `wrong_state`.
    @discardableResult
    public mutating func reverseRefund(of transactionID: String) throws(StoreError) -> StoreTransaction {
        var transaction = try transaction(transactionID)
        let hasRevokedSeats = transaction.seats.map { $0.revoked > 0 } ?? false
        guard transaction.revocation?.kind == .refund || hasRevokedSeats, transaction.restoredFrom == nil else {
            throw StoreError(.wrongState, "The transaction '\(transactionID)' was not refunded.")
        }
        transaction.revocation = nil
        transaction.seats?.revoked = 0
        let copies = copies(of: transactionID)
        for copy in copies {
            state.transactions[copy]?.revocation = nil
            state.transactions[copy]?.seats?.revoked = 0
        }
        var subscription = state.subscriptions[transaction.originalTransactionID]
        if var revoked = subscription, revoked.status == .revoked,
            copies.contains(revoked.transactionID) || isOfPresentPeriod(transaction, of: revoked)
        {
            if revoked.expiresDate > now {
                revoked.status = .active
            } else if let graceEnd = gracePeriodEnd(of: revoked), revoked.expirationIntent == 2, graceEnd > now {
                revoked.status = .gracePeriod
                revoked.gracePeriodExpiresDate = graceEnd
            } else {
                revoked.status = .expired
                revoked.expirationIntent = 5
            }
            store(revoked)
            subscription = revoked
        }
        record(
            .refundReversed, "the refund of \(transaction.productID) is reversed", transaction, subscription,
            notify: ("REFUND_REVERSED", nil))
        return transaction
    }

    func refundable(_ transactionID: String) throws(StoreError) -> StoreTransaction {
        let transaction = try transaction(transactionID)
        let isRefunded = transaction.revocation.map { !$0.isPartial } ?? false
        guard !isRefunded, transaction.ownership == .purchased, transaction.restoredFrom == nil else {
            throw StoreError(
                .wrongState,
                "The transaction '\(transactionID)' was refunded or revoked, or nothing was paid for it: it is shared, or restored."
            )
        }
        return transaction
    }

    /// Notes that a period, with all its restored copies, was left for a higher level.
    mutating func markUpgraded(_ transactionID: String) {
        let now = now
        for copy in copies(of: transactionID) { state.transactions[copy]?.upgradeDate = now }
    }

    /// The transaction, the source that it is a restored copy of, and all other copies; the source first.
    func copies(of transactionID: String) -> [String] {
        var first = transactionID
        while let earlier = state.transactions[first]?.restoredFrom { first = earlier }
        var copies = [first]
        while let copy = copies.last.flatMap({ state.transactions[$0]?.restoredAs }) { copies.append(copy) }
        return copies
    }

    /// Ends the subscription if the transaction is its present period.
    mutating func revokeSubscription(of transactionID: String) -> StoreSubscription? {
        guard let originalTransactionID = state.transactions[transactionID]?.originalTransactionID,
            var subscription = state.subscriptions[originalTransactionID]
        else { return nil }
        guard subscription.transactionID == transactionID else { return subscription }
        subscription.status = .revoked
        subscription.autoRenews = false
        subscription.gracePeriodExpiresDate = nil
        store(subscription)
        return subscription
    }
}

extension AppStore {
    /// Sets how likely the store grants refunds; nil lets it decide none by itself.
    /// - Throws: `invalid_value`.
    mutating func setRefundOdds(_ odds: RefundOdds?) throws(StoreError) {
        try odds?.check()
        state.summary.refundOdds = odds
        if odds == nil { state.summary.refundRequests = nil }
    }

    /// Notes what the developer says about a refund that a customer asked for, if it is not decided yet.
    mutating func answerRefundRequest(of transactionID: String, _ answer: RefundRequest.Answer) {
        state.summary.refundRequests?[transactionID]?.answer = answer
    }

    mutating func forgetRefundRequest(of transactionID: String) {
        state.summary.refundRequests?[transactionID] = nil
    }

    /// The refund that is decided next, and when.
    var nextRefundDecision: (transactionID: String, date: Date)? {
        state.summary.refundRequests?.map { (transactionID: $0.key, date: $0.value.decisionDate) }
            .min { ($0.date, $0.transactionID) < ($1.date, $1.transactionID) }
    }

    /// Decides a refund by chance, which is the same for the same transaction and time.
    mutating func decideRefund(of transactionID: String) throws(StoreError) {
        let request = state.summary.refundRequests?[transactionID]
        forgetRefundRequest(of: transactionID)
        guard let request, let odds = state.summary.refundOdds else { return }
        // In the meantime refunded by hand, or in another way.
        guard let transaction = try? refundable(transactionID) else { return }
        let seed = Data("refund|\(transactionID)|\(Int64(request.date.timeIntervalSince1970))".utf8)
        let chance = SHA256.hash(data: seed).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 100
        guard chance < UInt64(max(0, odds.percentage(for: request.answer))) else {
            try declineRefund(of: transactionID)
            return
        }
        try refund(transactionID, percentage: percentage(of: transaction, request))
    }

    /// The refunded share in thousandths of a percent; nil for the whole price.
    private func percentage(of transaction: StoreTransaction, _ request: RefundRequest) -> Int64? {
        guard request.answer?.preference == "GRANT_PRORATED", transaction.seats == nil else { return nil }
        let whole = StoreTransaction.Revocation.wholePercentage
        var consumed = request.answer?.consumed ?? 0
        // The store computes the consumed share of a subscription from its period.
        if let end = transaction.expiresDate, end > transaction.purchaseDate {
            let used =
                request.date.timeIntervalSince(transaction.purchaseDate)
                / end.timeIntervalSince(transaction.purchaseDate)
            consumed = Int64((min(1, max(0, used)) * Double(whole)).rounded())
        }
        let earlier = transaction.revocation?.percentage ?? 0
        let share = max(whole - consumed, earlier + 1)
        return share < whole ? share : nil
    }
}

/// A refund that a customer asks for, until the store decides it.
public struct RefundRequest: Codable, Hashable, Sendable {
    public let date: Date
    /// What the developer said; nil if nothing yet.
    public var answer: Answer?

    /// The part of the developer's answer that the decision depends on.
    public struct Answer: Codable, Hashable, Sendable {
        /// `DECLINE`, `GRANT_FULL`, `GRANT_PRORATED`; nil if the developer has no preference.
        public var preference: String?
        /// The consumed share, in thousandths of a percent.
        public var consumed: Int64?
    }

    /// Apple waits 12 hours for the developer's answer.
    static let answerTime: TimeInterval = 12 * 3600

    var decisionDate: Date { date.addingTimeInterval(Self.answerTime) }
}

/// How likely the store grants a refund, in percent, by what the developer prefers. Apple's own odds are unknown.
public struct RefundOdds: Codable, Hashable, Sendable {
    /// With the preference `DECLINE`.
    public var decline: Int
    /// With the preference `GRANT_FULL`.
    public var grantFull: Int
    /// With the preference `GRANT_PRORATED`; the rest of the price after the consumed share is refunded.
    public var grantProrated: Int
    /// With an answer without a preference.
    public var noPreference: Int
    /// Without an answer.
    public var noAnswer: Int

    /// The chance of a request.
    func percentage(for answer: RefundRequest.Answer?) -> Int {
        guard let answer else { return noAnswer }
        switch answer.preference {
        case "DECLINE": return decline
        case "GRANT_FULL": return grantFull
        case "GRANT_PRORATED": return grantProrated
        default: return noPreference
        }
    }

    func check() throws(StoreError) {
        guard [decline, grantFull, grantProrated, noPreference, noAnswer].allSatisfy({ (0...100).contains($0) }) else {
            throw StoreError(.invalidValue, "The odds of a refund are 0 to 100 percent.")
        }
    }
}
