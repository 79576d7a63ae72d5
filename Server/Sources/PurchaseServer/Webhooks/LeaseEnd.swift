import PurchaseLedger
import PurchaseVerification
import Synchronization

/// The time until which attempts may begin under a lease. It is updated each time the lease is prolonged, and read
/// before each attempt.
final class LeaseEnd: Sendable {
    /// The time before the end of a lease in which no attempt begins, in milliseconds: the longest attempt, and the
    /// difference between the clocks of two servers.
    private static let reserve: Int64 = 25_000

    /// `nil` until the lease was prolonged once.
    private let latest = Mutex<Timestamp?>(nil)

    /// Whether an attempt may begin.
    func allowsAttempt(at now: Timestamp) -> Bool { latest.withLock { $0.map { now < $0 } ?? false } }

    /// The lease was prolonged at a time.
    func move(prolongedAt time: Timestamp) {
        let milliseconds = time.millisecondsSince1970 + WebhookLease.lifetime - Self.reserve
        latest.withLock { $0 = Timestamp(millisecondsSince1970: milliseconds) }
    }
}
