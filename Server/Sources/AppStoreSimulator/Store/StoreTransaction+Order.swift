extension StoreTransaction {
    /// The number of the order in the mail that the customer gets; nil if nothing was paid: restored copies and what is
    /// shared have none.
    public var orderID: String? {
        guard restoredFrom == nil, ownership == .purchased, let number = UInt64(transactionID) else { return nil }
        let digits = String(number, radix: 36, uppercase: true)
        return Self.orderPrefix + String(repeating: "0", count: max(0, Self.orderDigits - digits.utf8.count)) + digits
    }

    /// The transaction of an order.
    /// - Returns: nil if the number has another form, or is of the other environment.
    static func transactionID(ofOrder orderID: String, in environment: StoreEnvironment) -> String? {
        guard orderID.hasPrefix(orderPrefix), let number = UInt64(orderID.dropFirst(orderPrefix.count), radix: 36),
            environment == .production
        else { return nil }
        return "\(number)"
    }

    private static let orderPrefix = "MS"
    private static let orderDigits = 11
}
