import Crypto
import Foundation

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
