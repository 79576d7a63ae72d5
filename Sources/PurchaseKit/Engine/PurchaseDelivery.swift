/// Something that the delegate has yet to learn.
struct PurchaseDelivery {
    let transaction: PaymentTransaction
    let outcome: PurchaseOutcome
    /// The entry that is removed afterwards: if the process ends before, the next run tells the delegate.
    let entry: PurchaseKey?
}

extension PurchaseEngine {
    /// Plans to tell the delegate, and removes the entry of a transaction that is finished.
    ///
    /// - Returns: whether the entry is removed, or will be.
    @discardableResult
    func tell(_ transaction: PaymentTransaction, _ outcome: PurchaseOutcome, removing entry: PurchaseKey? = nil)
        -> Bool
    {
        guard delegate != nil else { return entry.map { key in changes { $0.remove(key) } } ?? true }
        deliveries.append(PurchaseDelivery(transaction: transaction, outcome: outcome, entry: entry))
        return true
    }

    /// Tells the delegate what it has yet to learn. One that calls the engine learns of the rest when it returns.
    func deliver() async {
        guard !isDelivering else { return }
        isDelivering = true
        defer { isDelivering = false }
        var told: [PurchaseKey] = []
        while !deliveries.isEmpty {
            let next = deliveries.removeFirst()
            switch next.outcome {
            case .granted: await delegate?.didVerify(next.transaction, isValid: true)
            case .notCounted, .refused, .invalid: await delegate?.didVerify(next.transaction, isValid: false)
            case .undetermined(let error), .failed(let error):
                await delegate?.didFailToVerify(next.transaction, error: error)
            case .cancelled:
                await delegate?.didFailToVerify(next.transaction, error: PurchaseError(.paymentCancelled))
            case .pending, .queued: break
            }
            if let key = next.entry { told.append(key) }
        }
        // With one write: a restore brings hundreds.
        if !told.isEmpty { _ = changes { record in told.forEach { record.remove($0) } } }
    }
}
