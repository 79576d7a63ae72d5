import Foundation

extension PurchaseEngine {
    /// Each outcome from now on with its product, also one that was known before, for which there is no event.
    func outcomes() -> AsyncStream<(productID: String, outcome: PurchaseOutcome)> {
        let id = UUID()
        let (outcomes, outcome) = AsyncStream<(productID: String, outcome: PurchaseOutcome)>.makeStream()
        outcomeListeners[id] = outcome
        outcome.onTermination = { _ in Task { await self.removeOutcomeListener(id) } }
        return outcomes
    }

    private func removeOutcomeListener(_ id: UUID) { outcomeListeners[id] = nil }

    /// Tells those who follow purchases of an outcome, as it is for the customer who is signed in.
    func report(_ outcome: PurchaseOutcome, of transaction: PaymentTransaction) {
        let outcome = self.outcome(outcome, of: transaction, for: customer?.id)
        for listener in outcomeListeners.values { listener.yield((transaction.productID, outcome)) }
    }
}

extension PurchaseOutcome {
    /// Whether another outcome can follow without a further payment: after an approval, an attempt, or an interruption.
    var isOpen: Bool {
        switch self {
        case .pending, .undetermined, .failed: true
        case .granted, .notCounted, .refused, .invalid, .cancelled: false
        }
    }
}

extension PurchaseEngine {
    /// Runs until its task is cancelled. If another run is under way, it takes over when that ends.
    func runAfterOthers() async {
        while !Task.isCancelled {
            await run()
            await endOfRun()
        }
    }

    /// Returns when no run is under way, or when its task is cancelled.
    private func endOfRun() async {
        guard isRunning else { return }
        let (ends, end) = AsyncStream<Void>.makeStream()
        waitingForRunEnd.append(end)
        for await _ in ends {}
    }
}
