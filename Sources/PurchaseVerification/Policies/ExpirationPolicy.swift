/// Requires that the receipt has not expired (attribute 21). Only receipts of the Volume Purchase Program have an
/// expiry date; a receipt without one never expires (Apple, "expiration_date"). This is not the end of a subscription's
/// period.
public struct ExpirationPolicy: PurchasePolicy {
    private let moment: AppStoreTime

    /// - Parameter moment: the time at which the receipt is used.
    public init(at moment: AppStoreTime) { self.moment = moment }

    public var name: String { "expiration" }

    public func check(_ facts: some EvidenceFacts) throws(VerificationError) {
        guard let expirationDate = facts.expirationDate, moment >= expirationDate else { return }
        throw VerificationError(
            .receiptExpired, expected: "an expiration after \(moment)", found: "\(expirationDate)")
    }
}
