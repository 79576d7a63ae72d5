import PurchaseVerification

/// `seat_claimed`.
struct SeatClaimedDetails: JournalDetails {
    static var kind: JournalKind { .seatClaimed }
    /// Empty after an erasure, which keeps the id: it never lives again.
    var customer: String
    var seatID: String
    var requestID: String
    var appTransactionID: String?
    var environment: String
    var originalID: String
    var originalSecond: Int64?

    var original: OriginalKey {
        OriginalKey(
            environment: AppStoreEnvironment(environment), transactionID: ExactText(originalID),
            second: originalSecond ?? 0)
    }

    /// The details without what concerns a customer.
    var ofNobody: SeatClaimedDetails {
        var details = self
        (details.customer, details.requestID, details.appTransactionID) = ("", "", nil)
        return details
    }
}
