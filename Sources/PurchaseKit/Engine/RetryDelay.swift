import Foundation

/// The pauses between attempts: 4 seconds, 8, 16 and so on, up to an hour. A server that asks for a longer one gets it, up to an
/// hour: the signature does not cover `Retry-After`, so it must not be able to postpone a purchase for good.
enum RetryDelay {
    static let longest: Double = 3600

    static func seconds(after attempts: Int, retryAfter: Double? = nil) -> Double {
        min(longest, max(2 * Double(1 << min(max(attempts, 1), 11)), retryAfter ?? 0))
    }

    /// Whether an attempt is due. An attempt further away than the longest pause is due too: the device's clock was set back.
    static func isDue(_ date: Date?, at now: Date) -> Bool {
        guard let date else { return true }
        return date <= now || date > now.addingTimeInterval(longest)
    }
}

extension PurchaseEngine {
    /// Repeats attempts that are due, until its task is cancelled.
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

    /// Repeats the attempts that are due. `run` calls it every few seconds.
    public func retryDue() async {
        if let nextStart {
            if nextStart <= time.uptime { await start() }
            guard self.nextStart == nil else { return }
        }
        guard loads() else { return }
        let now = time.now
        for entry in record.outbox where entry.nextAttempt != nil && RetryDelay.isDue(entry.nextAttempt, at: now) {
            await handle(entry.transaction)
        }
    }

    /// Starts again after a pause: the store or the queue failed, so a transaction may be in neither.
    func startAgainLater() {
        failedStarts += 1
        nextStart = time.uptime + RetryDelay.seconds(after: failedStarts)
    }
}
