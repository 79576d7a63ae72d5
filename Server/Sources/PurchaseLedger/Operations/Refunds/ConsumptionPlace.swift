import PurchaseVerification

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
            [.requestLeases, .original(environment, original.originalID)]
        }
    }

    func work(_ decided: DecidedConsumption) throws(LedgerStorageError) -> ConsumptionWork {
        ConsumptionWork(
            request: entry.id, app: app.settings.id, bundleID: try row.observed(in: environment).bundleID?.string,
            environment: environment, transactionID: row.transactionID, deadline: request.deadline,
            attempts: Int(request.attempts), answer: decided.answer, situation: decided.situation)
    }

    /// Writes the outcome to the journal.
    func record(
        _ state: ConsumptionRequestState, answer: ConsumptionAnswer? = nil, refusal: String? = nil,
        number: Int64? = nil, situation: ConsumptionSituation, owner: CustomerRow?
    ) throws(LedgerStorageError) {
        guard
            let details = try entry.details.map({ content throws(LedgerStorageError) in
                try NotificationDetails(encoded: content)
            })
        else { return }
        var draft = transaction.draft(app)
        draft.customer = owner
        draft.transactionKey = row.key
        let written = try transaction.journal.append(
            draft,
            ConsumptionAnsweredDetails(
                notificationID: details.notificationID, environment: environment.name,
                transactionID: row.transactionID, answer: answer, refusal: refusal, number: number,
                situation: situation, isSent: state == .sent))
        try ConsumptionRequestsTable(connection: transaction.connection)
            .finish(request.entryKey, state, answer: written.key)
    }
}
