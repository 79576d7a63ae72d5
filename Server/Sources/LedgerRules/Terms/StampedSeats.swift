import PurchaseVerification

/// The seats in the newest signed transaction that states some.
struct StampedSeats: Sendable, Hashable {
    var stamp: Timestamp
    var seats: SeatFacts
}
