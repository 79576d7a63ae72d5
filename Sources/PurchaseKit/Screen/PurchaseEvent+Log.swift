extension PurchaseEvent {
    /// The event in a line for a log: name, product, transaction and code, never evidence.
    public var logLine: String {
        var words = [parts.name, parts.report?.productID, parts.report?.transactionID]
        if case .entitlementsChanged(let entitlements) = self {
            words.append(entitlements.filter(\.isActive).map(\.productID).joined(separator: ","))
        }
        if case .restored(let summary) = self {
            let (granted, refused) = (summary.granted.count, summary.refused.count)
            words.append("granted \(granted), refused \(refused), undetermined \(summary.undetermined.count)")
        }
        return (words + [parts.error?.code.rawValue]).compactMap(\.self).joined(separator: " ")
    }
}

#if canImport(os)
    import os

    extension PurchaseEngine {
        /// Writes every event to the system's log, until the task is cancelled: no evidence and no key.
        public nonisolated func logEvents(subsystem: String, category: String = "purchases") async {
            let logger = Logger(subsystem: subsystem, category: category)
            for await event in await ownEvents() {
                let line = event.logLine
                logger.notice("\(line, privacy: .public)")
            }
        }
    }
#endif
