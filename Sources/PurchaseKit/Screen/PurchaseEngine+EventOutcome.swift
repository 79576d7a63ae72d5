extension PurchaseEngine {
    /// The product of an event and the outcome of its purchase; `nil` for events that say nothing of it.
    func outcome(of event: PurchaseEvent) -> (productID: String, outcome: PurchaseOutcome)? {
        switch event {
        case .granted(let report):
            guard let purchase = record.granted.last(where: { $0.key.transactionID == report.transactionID }) else {
                return nil
            }
            return (report.productID, .granted(purchase, isReplayed: false))
        case .notCounted(let report, let error): return (report.productID, .notCounted(error))
        case .refused(let report, let error): return (report.productID, .refused(error))
        case .invalid(let report, let error): return (report.productID, .invalid(error))
        case .undetermined(let report, let error, nextAttempt: _): return (report.productID, .undetermined(error))
        case .pending(let report): return (report.productID, .pending)
        case .cancelled(let report): return (report.productID, .cancelled)
        case .failed(let report, let error): return (report.productID, .failed(error))
        case .refreshNeeded, .customerNeeded, .revoked, .ended, .entitlementsChanged, .restored, .promoted, .discarded,
            .storeSetAside, .failedOutside:
            return nil
        }
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
