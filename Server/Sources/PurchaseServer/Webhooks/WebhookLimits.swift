import PurchaseLedger
import PurchaseVerification

/// The limits of one webhook's deliveries.
struct WebhookLimits: Sendable {
    /// Attempts at the same time. A slow receiver does not delay others; 32 attempts of 15 ms each are 2,000 a second.
    var concurrency = 32
    /// The number of them for events that were not delivered before, so that slow failures leave room for new events.
    var repeated = 16
    /// Events in memory; their bodies are below a kilobyte.
    var window = 1024
    /// Events that are read at a time.
    var page = 512
    /// Rows of events that were not delivered or wait. Beyond it no new events are read, so that a receiver that is
    /// down for long does not fill the table: its events wait in the list of events.
    var pending = 10_000
    /// Failures in a row after which new events are attempted one at a time, and seldom.
    var failures = 8
    /// The longest pause between these, in milliseconds.
    var longestPause: Int64 = 60_000
    /// The interval between two searches for new events, in seconds.
    var tick = 0.2
    /// The interval between two records of deliveries, in milliseconds. After a crash the events since then are sent
    /// again: about a hundred at 2,000 deliveries a second.
    var recordInterval: Int64 = 50
    /// The interval between two attempts to take a lease that another server has, in seconds.
    var leaseInterval = 2.0
    /// The interval between two renewals of the lease if nothing happens, in milliseconds.
    var renewal: Int64 = 15_000

    /// The limits for notifications, whose bodies have 10 kilobytes, and 384 at most: 48 MiB in memory in all.
    var ofNotifications: WebhookLimits {
        var limits = self
        (limits.window, limits.page) = (128, 64)
        return limits
    }
}
