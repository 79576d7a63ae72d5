import PurchaseVerification

import struct Foundation.UUID

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

    /// The question that a notification repeats under a new id: about the same transaction, signed at most 12 hours
    /// apart, before Apple decided.
    ///
    /// - Returns: the id of its entry; `nil` if the notification asks a question of its own, or none.
    static func repeated(
        by details: NotificationDetails, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> String? {
        guard NotificationType.consumptionRequest.rawValue.isSame(as: details.type),
            let row = try transaction.row(of: details)
        else { return nil }
        let asked = details.signedAt ?? transaction.now.millisecondsSince1970
        let first = try ConsumptionRequestsTable(connection: transaction.connection).rows(transaction: row.key).first {
            abs($0.askedAt.millisecondsSince1970 - asked) < NotificationEvents.answerTime
                && ($0.closedAt.map { $0.millisecondsSince1970 >= asked } ?? true)
        }
        return try first.flatMap { first throws(LedgerStorageError) in
            try JournalTable(connection: transaction.connection).row(key: first.entryKey)?.id.text
        }
    }

    private func open(_ details: NotificationDetails) throws(LedgerStorageError) {
        if let first = details.repeats {
            let entry = try UUID(uuidString: first).flatMap { id throws(LedgerStorageError) in
                try JournalTable(connection: transaction.connection).row(id: id)
            }
            if let entry { try requests.count(entry.key) }
            return
        }
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
