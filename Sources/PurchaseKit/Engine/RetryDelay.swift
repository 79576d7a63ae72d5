import Foundation

/// The pauses between attempts: 4 seconds, 8, 16 and so on, up to an hour. A server that asks for a longer one gets it,
/// up to an hour: the signature does not cover `Retry-After`, so it must not be able to postpone a purchase for good.
enum RetryDelay {
    static let longest: Double = 3600

    static func seconds(after attempts: Int, retryAfter: Double? = nil) -> Double {
        min(longest, max(2 * Double(1 << min(max(attempts, 1), 11)), retryAfter ?? 0))
    }

    /// The pause until an attempt. One further away than the longest pause is due: the clock was set back.
    static func pause(until date: Date, at now: Date) -> Double {
        let seconds = date.timeIntervalSince(now)
        return seconds > longest ? 0 : max(0, seconds)
    }
}

extension PurchaseEngine {
    /// Repeats attempts that are due, until its task is cancelled. It wakes when something changes.
    func keepRetrying() async {
        while !Task.isCancelled {
            await retryDue()
            // Nothing can change between this line and the pause.
            await pause(secondsToNextAttempt())
        }
    }

    /// Repeats the attempts that are due. `run` calls it.
    package func retryDue() async {
        if let nextStart {
            if nextStart <= time.uptime { await start() }
            guard self.nextStart == nil else { return }
        }
        guard loads() else { return }
        let now = time.now
        for entry in record.outbox {
            guard let pause = pause(of: entry, at: now), pause <= 0 else { continue }
            await handle(entry.transaction)
        }
        await lookAtEnds()
        announce()
        if let nextPass, nextPass <= time.uptime { await refreshEntitlements() }
    }

    /// Starts again after a pause: the store or the queue failed, so a transaction may be in neither.
    func startAgainLater() {
        guard nextStart == nil else { return }
        failedStarts += 1
        nextStart = time.uptime + RetryDelay.seconds(after: failedStarts)
        wake()
    }

    /// Ends the pause of the loop, which then looks what is due.
    func wake() { sleeper?.cancel() }

    /// The seconds until an attempt is due, a look at the current evidence, or an entitlement ends.
    private func secondsToNextAttempt() -> Double {
        let (now, uptime) = (time.now, time.uptime)
        if let nextStart { return max(0, nextStart - uptime) }
        var pauses = record.outbox.compactMap { pause(of: $0, at: now) }
        if let nextPass { pauses.append(max(0, nextPass - uptime)) }
        if let end = secondsToNextEnd(shownEntitlements ?? []) { pauses.append(end) }
        return pauses.min() ?? 86_400
    }

    /// The pause until an entry is tried; `nil` if it waits for something other than time.
    private func pause(of entry: OutboxEntry, at now: Date) -> Double? {
        // It arrived before anybody was signed in.
        if entry.customerID == nil, entry.decision == nil, let customer,
            owner(of: entry.transaction, nil) == customer.id
        {
            return 0
        }
        guard let next = entry.nextAttempt, !entry.isOld(at: now),
            entry.decision != nil || isOfSignedInCustomer(entry.customerID)
        else { return nil }
        return RetryDelay.pause(until: next, at: now)
    }

    private func pause(_ seconds: Double) async {
        let sleeper = Task { [time] in
            // It throws when something changed, or the run ends.
            _ = try? await time.sleep(seconds: seconds)
        }
        self.sleeper = sleeper
        await withTaskCancellationHandler {
            await sleeper.value
        } onCancel: {
            sleeper.cancel()
        }
        self.sleeper = nil
    }
}
