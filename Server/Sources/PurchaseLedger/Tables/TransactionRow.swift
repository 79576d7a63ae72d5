import PurchaseVerification

import struct Foundation.UUID

/// The facts of one transaction, and its owner according to the ownership rules.
struct TransactionRow: TableRow {
    static let table = Table(
        "transactions", key: "transaction_key",
        columns: [
            "original_key", "environment", "transaction_id", "xcode_second", "product_key", "facts", "evidence_key",
            "known_at", "kind", "duration", "token", "owner_key", "owner_reason", "app_transaction_id",
        ])

    var key: Int64
    var originalKey: Int64
    var environment: Int64
    var transactionID: String
    var xcodeSecond: Int64
    var productKey: Int64
    /// The facts in their stored form.
    var facts: [UInt8]
    /// The newest evidence that changed the facts.
    var evidenceKey: Int64
    /// When the transaction was first observed.
    var knownAt: Timestamp
    /// The kind of product in the first settings that agree with the facts; `nil` until then. Such a purchase gives
    /// nothing.
    var kind: ProductKind?
    /// The duration of a non-renewing subscription in the same settings.
    var duration: PassDuration?
    /// The account token of the facts. The customer's reference takes its place when the customer is erased, in the
    /// transactions that are known then.
    var token: UUID?
    var ownerKey: Int64?
    /// The rule that gave it its owner.
    var ownerReason: String?
    /// The download of the app that the facts state.
    var appTransactionID: String?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        key = try reader.integer()
        originalKey = try reader.integer()
        environment = try reader.integer()
        transactionID = try reader.text()
        xcodeSecond = try reader.integer()
        productKey = try reader.integer()
        facts = try reader.blob()
        evidenceKey = try reader.integer()
        knownAt = try reader.time()
        kind = try reader.optionalNamed(ProductKind.self)
        duration = try reader.optionalText().flatMap { PassDuration($0) }
        token = try reader.optionalID()
        ownerKey = try reader.optionalInteger()
        ownerReason = try reader.optionalText()
        appTransactionID = try reader.optionalText()
    }

    init(
        originalKey: Int64, environment: Int64, key: TransactionKey, productKey: Int64, facts: [UInt8],
        evidenceKey: Int64, knownAt: Timestamp
    ) {
        self.key = 0
        self.originalKey = originalKey
        self.environment = environment
        transactionID = key.transactionID.string
        xcodeSecond = key.second
        self.productKey = productKey
        self.facts = facts
        self.evidenceKey = evidenceKey
        self.knownAt = knownAt
    }

    var values: [LedgerValue] {
        [
            .integer(originalKey), .integer(environment), .text(transactionID), .integer(xcodeSecond),
            .integer(productKey), .blob(facts), .integer(evidenceKey), .time(knownAt), .text(kind?.rawValue),
            .text(duration?.description), .id(token), .integer(ownerKey), .text(ownerReason),
            .text(appTransactionID),
        ]
    }

    /// Whether its owner was erased: it stays claimed, and its data is gone.
    var isErased: Bool { productKey == 0 }

    /// The facts, decoded.
    ///
    /// - Parameter environment: the environment of the row's number.
    func observed(in environment: AppStoreEnvironment) throws(LedgerStorageError) -> ObservedTransaction {
        let key = TransactionKey(
            environment: environment, transactionID: ExactText(transactionID), second: xcodeSecond)
        do throws(FactsDecodingError) {
            return try ObservedTransaction(key: key, encoded: facts)
        } catch {
            throw LedgerStorageError(error, of: "transaction \(transactionID)")
        }
    }
}
