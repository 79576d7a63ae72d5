package import PurchaseAPI
package import PurchaseVerification

extension FlatReceipt {
    /// The content of the receipt, in Apple's words of iOS 6.
    package init<Trust>(_ receipt: TransactionReceiptContent<Trust>) {
        self.init(attributes: receipt.attributes)
    }
}

extension VerifyReceiptResponse {
    /// The answer to a transaction receipt, in one of three forms: for a product, only the flat receipt; for a
    /// subscription, with itself as the latest receipt; for an expired one, status 21006 and itself as the latest
    /// expired receipt.
    ///
    /// - Parameters:
    ///   - receipt: the receipt.
    ///   - base64: the receipt as it was sent.
    ///   - now: the time of the request.
    package init(_ receipt: TransactionReceipt, base64: [UInt8], now: AppStoreTime) {
        let flat = FlatReceipt(receipt)
        guard let expiresDate = receipt.expiresDate else {
            self.init(status: .valid)
            flatReceipt = flat
            return
        }
        if now >= expiresDate {
            self.init(status: .expired)
            latestExpiredReceiptInfo = flat
        } else {
            self.init(status: .valid)
            latestFlatReceiptInfo = flat
            latestReceipt = base64
        }
        flatReceipt = flat
    }
}
