package import PurchaseAPI
package import PurchaseLedger
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

    /// The answer with what the ledger knows: the subscription's newest transaction decides, so it can be valid again
    /// after 21006.
    package init(_ receipt: TransactionReceipt, _ standing: ReceiptStanding, base64: [UInt8], now: AppStoreTime) {
        let begun = standing.entries.filter { ($0.facts.purchaseDate ?? now) <= now && $0.facts.kind == .autoRenewable }
        let newest = begun.max { left, right in
            guard left.facts.purchaseDate == right.facts.purchaseDate,
                let (first, second) = left.facts.end.flatMap({ first in right.facts.end.map { (first, $0) } })
            else { return (left.facts.purchaseDate ?? now) < (right.facts.purchaseDate ?? now) }
            return first < second
        }
        guard let newest, let end = newest.facts.end else {
            self.init(receipt, base64: base64, now: now)
            return
        }
        let flat = FlatReceipt(receipt)
        self.init(status: now < end ? .valid : .expired)
        flatReceipt = flat
        if now < end {
            latestFlatReceiptInfo = flat.with(newest)
            latestReceipt = base64
        } else {
            latestExpiredReceiptInfo = flat.with(newest)
        }
    }
}
