import PurchaseVerification

/// When signed transactions said that the customer had upgraded, and when they did not. What a receipt says of an
/// upgrade is as old as its cancellation.
struct StampedUpgrade: Sendable, Hashable {
    /// The earliest with the flag.
    var earliest: Timestamp
    /// The newest with the flag.
    var newest: Timestamp
    /// The newest without the flag.
    var newestWithout: Timestamp?

    var isInForce: Bool { newestWithout.map { $0 <= newest } ?? true }
}
