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
