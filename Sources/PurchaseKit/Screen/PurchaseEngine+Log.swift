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
