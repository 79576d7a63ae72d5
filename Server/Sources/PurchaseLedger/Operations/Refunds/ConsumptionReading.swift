import Foundation
import PurchaseVerification

/// Reads what the ledger knows of a purchase about whose use Apple asks.
struct ConsumptionReading {
    let reader: LedgerTransaction
    let app: RegistryApp

    private var connection: any LedgerConnection { reader.connection }

    /// The situation of a transaction, and the customer who owns it, after all merges.
    func situation(
        of row: TransactionRow
    ) throws(LedgerStorageError) -> (situation: ConsumptionSituation, owner: CustomerRow?) {
        let environment = try reader.environments.environment(row.environment)
        let facts = try row.observed(in: environment)
        let owner = try row.ownerKey.map { key throws(LedgerStorageError) in
            try reader.customers.surviving(try reader.customers.row(key))
        }
        let used = try owner.map { customer throws(LedgerStorageError) in try self.used(of: row, by: customer) } ?? 0
        var withdrawals = PurchaseWithdrawals(reader)
        let withdrawal = try withdrawals.withdrawal(of: row)
        // After a refund of some units, Apple can be asked for the others, and it is they that are used or not.
        let isWithdrawn = ClaimedPurchase(facts, kind: row.kind, withdrawal: withdrawal).wholeWithdrawal != nil
        let quantity = isWithdrawn ? facts.quantity : max(1, facts.quantity - (withdrawal?.units ?? 0))
        var situation = ConsumptionSituation(
            productID: facts.productID?.string, kind: row.kind, holder: holder(of: facts), isOwned: owner != nil,
            consent: .unknown, quantity: quantity, used: min(used, quantity), isDelivered: false,
            isWithdrawn: isWithdrawn)
        guard let owner else { return (situation, nil) }
        if let row = try ConsumptionConsentsTable(connection: connection).row(of: owner.key) {
            situation.consent = row.isGiven ? .given : .refused
        }
        let counts = try reader.counts(environment, for: owner.key, app)
        var order: OrderRow?
        for copy in try reader.copies(of: row) where order == nil { order = try reader.orders.row(paidBy: copy) }
        // What was used was delivered, whatever became of the order.
        situation.isDelivered = used > 0 || counts && row.kind != nil && (order.map { $0.fulfilledUnits > 0 } ?? true)
        return (situation, owner)
    }

    private func holder(of facts: ObservedTransaction) -> ConsumptionSituation.Holder {
        switch facts.ownership.holder {
        case .buyer: .buyer
        case .family: .family
        case .assigned, .assignedTransaction: .seat
        }
    }

    /// The units that the owner took from the lot of a consumable, by consuming them or by fulfilled orders. What
    /// others took before it was transferred to them is not theirs.
    private func used(of row: TransactionRow, by owner: CustomerRow) throws(LedgerStorageError) -> Int64 {
        guard row.kind == .consumable else { return 0 }
        return try TakesTable(connection: connection).units(of: row.originalKey)[owner.key] ?? 0
    }
}

/// A refund request with the rows that it is about.
struct ConsumptionPlace {
    let request: ConsumptionRequestRow
    let app: RegistryApp
    let row: TransactionRow
    private let transaction: LedgerTransaction
    private let entry: JournalRow
    private let environment: AppStoreEnvironment

    init(_ request: ConsumptionRequestRow, _ app: RegistryApp, _ transaction: LedgerTransaction)
        throws(LedgerStorageError)
    {
        self.request = request
        self.app = app
        self.transaction = transaction
        guard let row = try transaction.transactions.row(request.transactionKey),
            let entry = try JournalTable(connection: transaction.connection).row(key: request.entryKey)
        else { throw LedgerStorageError(.corrupt, "the refund request of entry \(request.entryKey) is about nothing") }
        (self.row, self.entry) = (row, entry)
        environment = try transaction.environments.environment(row.environment)
    }

    /// Locks the purchase: its news close the request.
    func lock() throws(LedgerStorageError) {
        let original = try OriginalsTable(connection: transaction.connection).row(row.originalKey)
        try transaction.connection.lock { () throws(LedgerStorageError) in
            [.work, .original(environment, original.originalID)]
        }
    }

    /// The stored answer to send.
    func answer(_ stored: String, _ work: LedgerWork) throws(LedgerStorageError) -> ConsumptionWork {
        var work = work
        work.progress = stored
        let decided = try DecidedConsumption(stored: stored)
        return ConsumptionWork(
            work: work, request: entry.id, app: app.settings.id,
            bundleID: try row.observed(in: environment).bundleID?.string,
            environment: environment, transactionID: row.transactionID, deadline: request.deadline,
            answer: decided.answer, situation: decided.situation)
    }

    /// Writes the outcome to the journal.
    func record(
        _ state: ConsumptionRequestState, answer: ConsumptionAnswer? = nil, refusal: String? = nil,
        number: Int64? = nil, situation: ConsumptionSituation, owner: CustomerRow?
    ) throws {
        guard
            let details = try entry.details.map({ content throws(LedgerStorageError) in
                try NotificationDetails(encoded: content)
            })
        else { return }
        var draft = transaction.draft(app)
        draft.customer = owner
        draft.transactionKey = row.key
        let answered = ConsumptionAnsweredDetails(
            notificationID: details.notificationID, environment: environment.name, transactionID: row.transactionID,
            answer: answer, refusal: refusal, number: number, situation: situation, isSent: state == .sent)
        try answered.run(try transaction.append(draft, answered))
    }
}

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
                reason: details.refundReason), at: transaction.now)
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

/// An answer that was decided, with that from which it was made, in the form in which it is kept while it is sent.
struct DecidedConsumption: Codable {
    var answer: ConsumptionAnswer
    var situation: ConsumptionSituation

    func stored() throws(LedgerStorageError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        do {
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        } catch {
            throw LedgerStorageError(.other, "an answer to a refund request cannot be encoded: \(error)")
        }
    }
}

extension DecidedConsumption {
    init(stored text: String) throws(LedgerStorageError) {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
        } catch {
            throw LedgerStorageError(.corrupt, "an answer to a refund request cannot be read: \(error)")
        }
    }
}
