/// The receipt has not expired (attribute 21). Only receipts of the Volume Purchase Program say when they do; one that does
/// not say it never expires (Apple, "expiration_date").
public struct ExpirationPolicy: AppReceiptPolicy {
    private let moment: Timestamp

    /// - Parameter moment: the time at which the receipt is used.
    public init(at moment: Timestamp) { self.moment = moment }

    public var name: String { "expiration" }

    public func check<Trust>(_ receipt: AppReceiptContent<Trust>) throws(VerificationError) {
        guard let expirationDate = receipt.expirationDate, moment >= expirationDate else { return }
        throw VerificationError(
            .receiptExpired, expected: "an expiration after \(moment)", found: "\(expirationDate)")
    }
}
