extension PurchaseEvent {
    /// The event in a line for a log: name, product, transaction and code, never evidence.
    public var logLine: String {
        switch self {
        case .granted(let report), .pending(let report), .cancelled(let report), .refreshNeeded(let report),
            .customerNeeded(let report), .discarded(let report):
            line(report)
        case .notCounted(let report, let error), .refused(let report, let error), .invalid(let report, let error),
            .undetermined(let report, let error, nextAttempt: _), .failed(let report, let error),
            .revoked(let report, let error):
            line(report, error)
        case .ended(let productID), .promoted(let productID, _): "\(name) \(productID)"
        case .entitlementsChanged(let entitlements):
            "\(name) \(entitlements.filter(\.isActive).map(\.productID).joined(separator: ","))"
        case .restored(let summary):
            "\(name) granted \(summary.granted.count), refused \(summary.refused.count), undetermined \(summary.undetermined.count)"
                + (summary.error.map { ", \($0.code.rawValue)" } ?? "")
        case .guestKept: name
        case .storeSetAside(let error): line(nil, error)
        case .failedOutside(let error, let report): line(report, error)
        }
    }

    private func line(_ report: PurchaseReport?, _ error: PurchaseError? = nil) -> String {
        [name, report?.productID, report?.transactionID, error?.code.rawValue].compactMap(\.self).joined(separator: " ")
    }
}

#if canImport(os)
    import os

    extension PurchaseEngine {
        /// Writes every event to the system's log, until the task is cancelled: its name, product, transaction and
        /// code. Events have no evidence and no key.
        public nonisolated func logEvents(subsystem: String, category: String = "purchases") async {
            let logger = Logger(subsystem: subsystem, category: category)
            for await event in await ownEvents() {
                let line = event.logLine
                logger.notice("\(line, privacy: .public)")
            }
        }
    }
#endif
