public import PurchaseVerification

/// Identifies a transaction.
///
/// The App Store numbers transactions uniquely within an environment. Xcode starts again at 0 whenever its store is
/// reset, so its keys include the second of the purchase.
public struct TransactionKey: Sendable, Hashable {
    /// The environment of the purchase, from signed bytes.
    public let environment: AppStoreEnvironment
    public let transactionID: ExactText
    /// Seconds since 1970 of the purchase in Xcode; 0 in every other environment.
    public let second: Int64

    /// Creates the key of a stored row.
    public init(environment: AppStoreEnvironment, transactionID: ExactText, second: Int64 = 0) {
        self.environment = environment
        self.transactionID = transactionID
        self.second = second
    }

    /// Creates the key of a transaction that evidence proves.
    ///
    /// - Returns: `nil` in the Xcode environment if the date of purchase is missing.
    public init?(environment: AppStoreEnvironment, transactionID: ExactText, purchaseDate: Timestamp?) {
        guard environment == .xcode else {
            self.init(environment: environment, transactionID: transactionID)
            return
        }
        guard let purchaseDate else { return nil }
        self.init(environment: environment, transactionID: transactionID, second: purchaseDate.wholeSecond)
    }
}

extension Timestamp {
    /// Seconds since 1970, rounded down. Receipts state whole seconds, signed data milliseconds.
    var wholeSecond: Int64 {
        let (quotient, remainder) = millisecondsSince1970.quotientAndRemainder(dividingBy: 1000)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
