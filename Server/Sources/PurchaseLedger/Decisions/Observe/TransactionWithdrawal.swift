extension ObservedTransaction {
    /// Apple's withdrawal of the transaction according to the newest known facts; `nil` if there is none.
    ///
    /// A cancellation counts if it is later than the newest signed transaction, or if there is none; otherwise the newest signed
    /// transaction decides. So receipts never reverse a refund, but newer signed data without a revocation does. A revocation of
    /// 0 % withdraws nothing, whatever the kind of the product.
    public var withdrawal: Withdrawal? {
        if let cancellation, newestStamp.map({ $0 < cancellation }) ?? true {
            return Withdrawal(date: cancellation, cause: .cancelled, units: quantity)
        }
        guard let signedRevocation, signedRevocation.share > 0 else { return nil }
        return Withdrawal(
            date: signedRevocation.date, cause: .revoked, units: signedRevocation.units(of: quantity))
    }
}

extension Revocation {
    /// The withdrawn share of the quantity, in milliunits from 0 to 100,000; everything if it is not stated.
    var share: Int64 { min(max(0, percentage ?? Self.whole), Self.whole) }

    /// The number of withdrawn units of a quantity: none at 0 %, otherwise the share rounded to the nearest whole number, at
    /// least 1 and at most all. 33,333 of 3 are 1, and 66,667 of 3 are 2.
    public func units(of quantity: Int64) -> Int64 {
        let quantity = max(0, quantity)
        guard share > 0, share < Self.whole else { return share == 0 ? 0 : quantity }
        // Rounded half up, in parts that cannot overflow: quantity = 100,000 · whole + rest.
        let (whole, rest) = quantity.quotientAndRemainder(dividingBy: Self.whole)
        let units = whole * share + (rest * share + Self.whole / 2) / Self.whole
        return min(max(1, units), quantity)
    }
}
