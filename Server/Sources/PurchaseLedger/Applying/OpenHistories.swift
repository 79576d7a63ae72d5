import PurchaseVerification

/// The histories that a change reads and modifies.
final class OpenHistories {
    /// In the order in which they were read.
    var histories: [PurchaseHistory] = []
    private let transaction: LedgerTransaction
    private let app: RegistryApp
    private let identities: CustomerIdentities
    private let situation: Situation?

    init(
        _ transaction: LedgerTransaction, app: RegistryApp, _ identities: CustomerIdentities,
        _ situation: Situation? = nil
    ) {
        self.transaction = transaction
        self.app = app
        self.identities = identities
        self.situation = situation
    }

    private var connection: any LedgerConnection { transaction.connection }

    /// The position of a known transaction. Its history is read if necessary.
    func place(
        of key: TransactionKey, environment: Int64
    ) throws(LedgerStorageError) -> (history: Int, record: Int)? {
        for index in histories.indices {
            if let record = histories[index].index(of: key) { return (index, record) }
        }
        guard let original = try original(of: key, environment: environment) else { return nil }
        let index = try history(original)
        return histories[index].index(of: key).map { (index, $0) }
    }

    private func original(of key: TransactionKey, environment: Int64) throws(LedgerStorageError) -> Int64? {
        if let known = situation?.original(of: key) { return known }
        let original = try transaction.transactions.row(key, environment: environment)?.originalKey
        situation?.note(key, original)
        return original
    }

    private func original(_ key: OriginalKey, environment: Int64) throws(LedgerStorageError) -> Int64? {
        if let known = situation?.original(key) { return known }
        let original = try OriginalsTable(connection: connection).row(key, environment: environment)?.key
        situation?.note(key, original)
        return original
    }

    /// The stored originals of a subscription; there is more than one only in Xcode.
    func originals(of key: RenewalKey, environment: Int64) throws(LedgerStorageError) -> [Int64] {
        let single = OriginalKey(environment: key.environment, transactionID: key.originalTransactionID)
        if key.environment != .xcode, let known = situation?.original(single) { return [known].compactMap(\.self) }
        return try OriginalsTable(connection: connection)
            .rows(id: key.originalTransactionID.string, environment: environment).map(\.key)
    }

    /// Reads the history in which a transaction is or will be, if it is stored.
    func load(_ facts: ObservedTransaction) throws(LedgerStorageError) {
        guard let environment = try transaction.environments.key(of: facts.key.environment),
            try place(of: facts.key, environment: environment) == nil,
            let original = try original(facts.original, environment: environment)
        else { return }
        _ = try history(original)
    }

    /// The position of the history of a stored original.
    func history(_ originalKey: Int64) throws(LedgerStorageError) -> Int {
        if let index = histories.firstIndex(where: { $0.original.key == originalKey }) { return index }
        guard var known = situation?.history(originalKey) else {
            return try append(try OriginalsTable(connection: connection).row(originalKey))
        }
        if known.isSubscription, known.renewal == nil, known.statuses.isEmpty {
            // A decision before this one can have made it a subscription.
            known.read(
                try HistoryReader(transaction: transaction).news(known.key, environment: known.original.environment))
        }
        try identities.readMerges(of: known)
        histories.append(known)
        return histories.count - 1
    }

    /// Reads the history of a stored original, and the merges of the customers who acted on it.
    func append(_ original: OriginalRow) throws(LedgerStorageError) -> Int {
        let history = try HistoryReader(transaction: transaction).history(original)
        try identities.readMerges(of: history)
        situation?.note(history)
        histories.append(history)
        return histories.count - 1
    }

    func history(of key: OriginalKey, environment: Int64, isSubscription: Bool) throws(LedgerStorageError)
        -> Int
    {
        if let index = histories.firstIndex(where: { $0.key == key }) { return index }
        if let original = try original(key, environment: environment) { return try history(original) }
        var history = PurchaseHistory(
            original: OriginalRow(key, environment: environment, appKey: app.key), key: key, records: [], acts: [])
        if isSubscription {
            history.read(try HistoryReader(transaction: transaction).news(key, environment: environment))
        }
        histories.append(history)
        return histories.count - 1
    }

    /// Reads the renewal info of an original that turned out to be a subscription.
    func readRenewal(of index: Int) throws(LedgerStorageError) {
        guard histories[index].renewal == nil else { return }
        let history = histories[index]
        histories[index].read(
            try HistoryReader(transaction: transaction).news(history.key, environment: history.original.environment))
    }

    /// A record with the columns that follow from its facts and the settings.
    func described(_ record: TransactionRecord) throws(LedgerStorageError) -> TransactionRecord {
        guard !record.isErased else { return record }
        var record = record
        let productID = record.facts.productID?.string ?? ""
        if record.row.productKey == 0 || ExactText(productID) != ExactText(record.productID) {
            record.productID = productID
            record.row.productKey = try productKey(productID)
        }
        if let stated = record.facts.kind, record.row.kind != stated {
            // Better evidence contradicts the evidence that agreed with the settings.
            (record.row.kind, record.row.duration) = (nil, nil)
        }
        if record.row.kind == nil, let terms = app.settings.terms(of: record.facts) {
            (record.row.kind, record.row.duration) = (terms.kind, terms.duration)
        }
        return record
    }

    private func productKey(_ id: String) throws(LedgerStorageError) -> Int64 {
        if let known = situation?.product(id, app: app.key) { return known }
        let key = try transaction.products.keyToWrite(id, appKey: app.key, at: transaction.now)
        situation?.note(product: id, app: app.key, key)
        return key
    }
}
