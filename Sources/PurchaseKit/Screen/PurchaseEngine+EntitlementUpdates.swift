import Foundation

extension PurchaseEngine {
    /// What the customer may use: now, and again after each change, also when a paid period ends. Without a stored
    /// purchase the first value is empty. Each call creates a separate stream.
    public nonisolated func entitlementUpdates() -> AsyncStream<[PurchaseEntitlement]> {
        AsyncStream(task: { continuation in
            var last: [PurchaseEntitlement]?
            for await shown in self.shownUpdates()
            where last.map({ !$0.sayTheSame(as: shown.entitlements) }) ?? true {
                last = shown.entitlements
                continuation.yield(shown.entitlements)
            }
        })
    }

    /// What a screen shows.
    package struct Shown: Sendable {
        let entitlements: [PurchaseEntitlement]
        /// Whether the first look at the current evidence of the customer has ended, or they have something.
        package let isLoaded: Bool
    }

    /// The same with whether it can be believed.
    package nonisolated func shownUpdates() -> AsyncStream<Shown> {
        AsyncStream(task: { continuation in await self.follow { continuation.yield($0) } })
    }

    /// Calls a closure with what is shown whenever it differs from before.
    private func follow(_ changed: @Sendable (Shown) -> Void) async {
        let (looks, look) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let id = UUID()
        watchers[id] = look
        defer { watchers[id] = nil }
        var timer: Task<Void, any Error>?
        var last: Shown?
        look.yield()
        for await _ in looks {
            if let found = shown(),
                last.map({ $0.isLoaded != found.isLoaded || !$0.entitlements.sayTheSame(as: found.entitlements) })
                    ?? true
            {
                last = found
                changed(found)
            }
            timer?.cancel()
            // A little later, so that the end is in the past then.
            timer = secondsToNextEnd(last?.entitlements ?? []).map { seconds in
                Task {
                    try await time.sleep(seconds: seconds + 0.1)
                    await self.lookAtEnds()
                    look.yield()
                }
            }
        }
        timer?.cancel()
    }

    /// `nil` while the store cannot be read: what was shown stays.
    private func shown() -> Shown? {
        (try? entitlements()).map { Shown(entitlements: $0, isLoaded: isKnown) }
    }

    /// Whether something is known about the customer who is shown. Before the app has said who that is, nothing is.
    private var isKnown: Bool {
        guard let id = server == nil ? "" : shownCustomer?.id else { return isSignedOut }
        guard !lookedFor.contains(id) else { return true }
        // Who has nothing here may have bought it on another device, and what has ended since the record was written
        // may have been renewed.
        let shown = entitlements(at: currentTime())
        guard shown.contains(where: \.isActive) else { return false }
        guard server != nil else { return shown.allSatisfy(\.isActive) }
        return record.entitlements.filter { $0.customerID == id && $0.isActive }.allSatisfy { one in
            shown.contains { $0.productID == one.productID && $0.isActive }
        }
    }
}
