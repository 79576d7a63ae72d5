import PurchaseVerification

/// The events of a notification that do not follow from the transaction in it.
struct NotificationEvents {
    let transaction: LedgerTransaction
    let app: RegistryApp
    let entry: JournalEntry

    /// The time in which the App Store takes an answer to a consumption request, in milliseconds (Apple, "Send
    /// Consumption Information"): 12 hours.
    static let answerTime: Int64 = 12 * 3_600_000

    /// Writes the events of a first delivery.
    func write(_ details: NotificationDetails) throws(LedgerStorageError) {
        try ConsumptionRequestWriter(transaction: transaction, app: app, entry: entry).receive(details)
        if NotificationType.consumptionRequest.rawValue.isSame(as: details.type), details.repeats == nil {
            try writeRequest(details)
        }
        if NotificationType.rescindConsent.rawValue.isSame(as: details.type) { try writeRescission(details) }
    }

    /// Closes refund requests by a decision of which nothing else is told.
    func closeRequests(_ details: NotificationDetails) throws(LedgerStorageError) {
        try ConsumptionRequestWriter(transaction: transaction, app: app, entry: entry).decide(details)
    }

    private func writeRequest(_ details: NotificationDetails) throws(LedgerStorageError) {
        guard let row = try transaction.row(of: details) else { return }
        let writer = LedgerEvents(transaction, app: app, entry: entry)
        var event = writer.event(.refundRequested)
        event.productKey = row.productKey
        event.transactionKey = row.key
        event.originalKey = row.originalKey
        event.figures.reason = details.refundReason
        event.figures.until = details.signedAt.map {
            Timestamp(millisecondsSince1970: $0).adding(milliseconds: Self.answerTime, times: 1)
        }
        let owner = try row.ownerKey.map { key throws(LedgerStorageError) in
            // The row of a merged customer may not have moved yet.
            try transaction.customers.surviving(try transaction.customers.row(key)).key
        }
        try transaction.tell(event, to: owner)
    }

    /// One event for each customer known by the download of the app.
    private func writeRescission(_ details: NotificationDetails) throws(LedgerStorageError) {
        let writer = LedgerEvents(transaction, app: app, entry: entry)
        for customer in try Self.customers(of: details, app, transaction) {
            var event = writer.event(.consentRescinded)
            event.environment = try details.environment.map { name throws(LedgerStorageError) in
                try transaction.environments.keyToWrite(of: AppStoreEnvironment(name))
            }
            try transaction.tell(event, to: customer)
        }
    }

    /// The customers who own a purchase with the download of the app that a notification names, or who claimed a seat
    /// with it. Their originals are locked.
    static func customers(
        of details: NotificationDetails, _ app: RegistryApp, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> [Int64] {
        guard let id = details.appTransactionID, let name = details.environment else { return [] }
        let environment = try transaction.environments.keyToWrite(of: AppStoreEnvironment(name))
        let identities = CustomerIdentities(transaction, app: app)
        let open = OpenHistories(transaction, app: app, identities)
        var customers: Set<Int64> = []
        /// The row of a merged customer may not have moved yet. An erased customer has no name.
        func insert(_ key: Int64) throws(LedgerStorageError) {
            let customer = try transaction.customers.surviving(try transaction.customers.row(key))
            if customer.name != nil { customers.insert(customer.key) }
        }
        for original in try transaction.transactions.originals(
            appTransactionID: id, environment: environment, appKey: app.key)
        {
            let history = open.histories[try open.history(original)]
            for record in history.records where record.facts.appTransactionID?.string.isSame(as: id) ?? false {
                if let owner = record.row.ownerKey { try insert(owner) }
            }
        }
        for seat in try members(id, environment, app, transaction) { try insert(seat.customerKey) }
        return customers.sorted()
    }

    /// The claims of seats with a download of the app. Members whom the backend invites have no transactions that state
    /// it.
    private static func members(
        _ id: String, _ environment: Int64, _ app: RegistryApp, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> [SeatRow] {
        let (connection, named) = (transaction.connection, try transaction.environments.environment(environment))
        let seats = SeatsTable(connection: connection)
        var originals: [Int64: OriginalRow] = [:]
        for seat in try seats.rows(appTransactionID: id, appKey: app.key) where originals[seat.originalKey] == nil {
            originals[seat.originalKey] = try OriginalsTable(connection: connection).row(seat.originalKey)
        }
        let concerned = originals.filter { $0.value.environment == environment }
        guard !concerned.isEmpty else { return [] }
        try connection.lock { () throws(LedgerStorageError) in
            concerned.values.sorted { $0.key < $1.key }.map { LedgerLock.original(named, $0.originalID) }
        }
        // A claim can have moved to another customer until its original was locked.
        return try seats.rows(appTransactionID: id, appKey: app.key).filter { concerned[$0.originalKey] != nil }
    }
}
