import Crypto
public import Foundation

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
    /// When the customer asked.
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

    /// When the store decides.
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
