import Foundation

/// The pauses between attempts: 4 seconds, 8, 16 and so on, up to an hour.
enum RetryDelay {
    static let longest: Double = 3600

    static func seconds(after attempts: Int) -> Double {
        min(longest, 2 * Double(1 << min(max(attempts, 1), 11)))
    }

    /// Whether an attempt is due. One that is further away than any pause was planned by another clock: the device's was set back.
    static func isDue(_ date: Date?, at now: Date) -> Bool {
        guard let date else { return true }
        return date <= now || date > now.addingTimeInterval(longest)
    }
}

extension PurchaseEngine {
    /// Repeats what is due, until its task is cancelled.
    func keepRetrying() async {
        while !Task.isCancelled {
            await retryDue()
            do {
                try await time.sleep(seconds: 2)
            } catch {
                // Cancelled.
                return
            }
        }
    }

    /// Tries again what is due. `run` calls it every few seconds.
    public func retryDue() async {
        guard loads() else { return }
        let now = time.now
        for entry in record.outbox where entry.nextAttempt != nil && RetryDelay.isDue(entry.nextAttempt, at: now) {
            await handle(entry.transaction)
        }
    }
}
