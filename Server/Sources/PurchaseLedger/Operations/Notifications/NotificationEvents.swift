import PurchaseVerification

/// The events of a notification that do not follow from the transaction in it.
struct NotificationEvents {
    let transaction: LedgerTransaction
    let app: RegistryApp
    let entry: JournalEntry

    /// The time in which the App Store takes an answer to a consumption request, in milliseconds (Apple, "Send Consumption
    /// Information"): 12 hours.
    static let answerTime: Int64 = 12 * 3_600_000

    /// Writes the events of a first delivery.
    func write(_ details: NotificationDetails) throws(LedgerStorageError) {
        guard NotificationType.consumptionRequest.rawValue.isSame(as: details.type), let row = try row(details) else {
            return
        }
        let writer = EventWriter(transaction: transaction, app: app, entry: entry)
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
        try writer.write(event, customer: owner)
    }

    /// The transaction that the notification is about.
    private func row(_ details: NotificationDetails) throws(LedgerStorageError) -> TransactionRow? {
        guard let id = details.transactionID, let name = details.environment else { return nil }
        let environment = try transaction.environments.keyToWrite(of: AppStoreEnvironment(name))
        return try transaction.transactions.rows(id: id).first { $0.environment == environment && !$0.isErased }
    }
}
