import PurchaseVerification

/// `seat_unclaimed`, by the backend. The App Store's `UNCLAIM_SEATS` is a notification.
struct SeatUnclaimedDetails: JournalDetails {
    static var kind: JournalKind { .seatUnclaimed }
    var seatID: String
    var environment: String
    var originalID: String
    var originalSecond: Int64?
}
