import PurchaseVerification

/// Notes Apple's questions about the use of purchases, and its decisions about refunds.
struct ConsumptionRequestWriter {
    let transaction: LedgerTransaction
    let app: RegistryApp
    let entry: JournalEntry

    private var requests: ConsumptionRequestsTable { ConsumptionRequestsTable(connection: transaction.connection) }

    /// Notes a first delivery of a notification.
    func receive(_ details: NotificationDetails) throws(LedgerStorageError) {
        if NotificationType.consumptionRequest.rawValue.isSame(as: details.type) {
            try open(details)
        } else {
            try decide(details)
        }
    }

    /// Closes questions, if the notification is about a decision.
    func decide(_ details: NotificationDetails) throws(LedgerStorageError) {
        for type in [NotificationType.refund, .refundDeclined] where type.rawValue.isSame(as: details.type) {
            try close(details, by: type.rawValue)
        }
    }

    private func open(_ details: NotificationDetails) throws(LedgerStorageError) {
        guard let row = try transaction.row(of: details) else { return }
        let asked = details.signedAt.map { Timestamp(millisecondsSince1970: $0) } ?? transaction.now
        try requests.insert(
            ConsumptionRequestRow(
                entryKey: entry.key, appKey: app.key, transactionKey: row.key, askedAt: asked,
                deadline: asked.adding(milliseconds: NotificationEvents.answerTime, times: 1),
                reason: details.refundReason, at: transaction.now))
    }

    /// A decision closes the questions that were asked before it.
    private func close(_ details: NotificationDetails, by type: String) throws(LedgerStorageError) {
        guard let row = try transaction.row(of: details) else { return }
        let decided = details.signedAt.map { Timestamp(millisecondsSince1970: $0) } ?? transaction.now
        for request in try requests.rows(transaction: row.key)
        where request.closedBy == nil && request.askedAt <= decided {
            try requests.close(request, by: type, at: decided)
        }
    }
}

extension LedgerTransaction {
    /// The transaction that a notification is about; `nil` if it is not known, or was erased.
    func row(of details: NotificationDetails) throws(LedgerStorageError) -> TransactionRow? {
        guard let id = details.transactionID, let name = details.environment else { return nil }
        let environment = try environments.keyToWrite(of: AppStoreEnvironment(name))
        return try transactions.rows(id: id).first { $0.environment == environment && !$0.isErased }
    }
}
