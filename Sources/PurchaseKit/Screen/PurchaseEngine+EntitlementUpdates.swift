import Foundation

extension PurchaseEngine {
    /// What the customer may use: now, and again after each change, also when a paid period ends. Without a stored
    /// purchase the first value is empty. Each call creates a separate stream.
    public nonisolated func entitlementUpdates() -> AsyncStream<[PurchaseEntitlement]> {
        AsyncStream { continuation in
            let task = Task {
                await self.follow { continuation.yield($0) }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Calls a closure with the entitlements whenever they differ from those before.
    private func follow(_ changed: @Sendable ([PurchaseEntitlement]) -> Void) async {
        let (looks, look) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let events = ownEvents()
        let source = Task {
            for await _ in events { look.yield() }
            look.finish()
        }
        var timer: Task<Void, any Error>?
        var last: [PurchaseEntitlement]?
        look.yield()
        for await _ in looks {
            if let found = presentEntitlements(), last.map({ !$0.sayTheSame(as: found) }) ?? true {
                last = found
                changed(found)
            }
            timer?.cancel()
            timer = secondsToNextEnd(last ?? []).map { seconds in
                Task { [time] in
                    try await time.sleep(seconds: seconds)
                    look.yield()
                }
            }
        }
        timer?.cancel()
        source.cancel()
    }

    /// `nil` while the store cannot be read: what was shown stays.
    private func presentEntitlements() -> [PurchaseEntitlement]? {
        do {
            return try entitlements()
        } catch {
            return nil
        }
    }

    private func secondsToNextEnd(_ entitlements: [PurchaseEntitlement]) -> Double? {
        let ends = entitlements.filter(\.isActive).compactMap(\.until)
        // By the time that decides, which is not always the device's clock. A little later, so that the end is in the
        // past then.
        return ends.min().map { max($0.timeIntervalSince(currentTime()), 0) + 0.1 }
    }
}
