/// Requires that the evidence proves the transaction that a client claims: the checks that Apple required of iOS 5 apps
/// in 2012, when a genuine receipt of one purchase was sent by every app (Apple, TP40012484).
public struct TransactionPolicy: PurchasePolicy {
    private let claimed: TransactionFacts

    /// - Parameter claimed: the transaction as the client states it; only facts that are not `nil` are compared.
    public init(_ claimed: TransactionFacts) { self.claimed = claimed }

    public var name: String { "transaction" }

    public func check(_ facts: some EvidenceFacts) throws(VerificationError) {
        let transactions = facts.transactions
        guard let found = transactions.first(where: { claimed.transactionID.isSame(as: $0.transactionID) }) else {
            throw VerificationError(
                .transactionMismatch, expected: "transaction \(claimed.transactionID)",
                found: transactions.count == 1 ? transactions[0].transactionID : "\(transactions.count) others")
        }
        try compare("product", claimed.productID, found.productID) { $0.isSame(as: $1) }
        try compare("quantity", claimed.quantity, found.quantity, ==)
        try compare("original transaction", claimed.originalTransactionID, found.originalTransactionID) {
            $0.isSame(as: $1)
        }
        try compare("purchase date", claimed.purchaseDate, found.purchaseDate, ==)
    }

    private func compare<Value>(
        _ name: String, _ claimed: Value?, _ found: Value?, _ isSame: (Value, Value?) -> Bool
    ) throws(VerificationError) {
        guard let claimed, !isSame(claimed, found) else { return }
        throw VerificationError(
            .transactionMismatch, expected: "\(name) \(claimed)", found: found.map { "\($0)" } ?? "none")
    }
}

/// The facts of one transaction, from evidence or from a client.
public struct TransactionFacts: Sendable {
    public var transactionID: String
    public var originalTransactionID: String?
    public var productID: String?
    public var quantity: UInt64?
    public var purchaseDate: AppStoreTime?

    /// - Parameters: the known facts; `nil` for unknown ones.
    public init(
        transactionID: String, originalTransactionID: String? = nil, productID: String? = nil,
        quantity: UInt64? = nil, purchaseDate: AppStoreTime? = nil
    ) {
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.productID = productID
        self.quantity = quantity
        self.purchaseDate = purchaseDate
    }
}

extension TransactionFacts: Equatable {
    /// Compares identifiers byte by byte.
    public static func == (left: TransactionFacts, right: TransactionFacts) -> Bool {
        isSame(left.transactionID, right.transactionID)
            && isSame(left.originalTransactionID, right.originalTransactionID)
            && isSame(left.productID, right.productID) && left.quantity == right.quantity
            && left.purchaseDate == right.purchaseDate
    }

    private static func isSame(_ left: String?, _ right: String?) -> Bool {
        left.map { $0.isSame(as: right) } ?? (right == nil)
    }
}
