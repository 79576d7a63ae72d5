import PurchaseVerification

/// A purchase of a non-renewing subscription, as far as it takes time.
struct PaidTime {
    let original: String
    let transaction: String
    let begin: Timestamp
    let quantity: Int64
    /// In milliseconds, each.
    let duration: Int64
    /// When the App Store took it back. Until then it took time all the same, and those behind it begin then.
    var withdrawnAt: Timestamp?

    /// When several end: each begins when it was bought or when the one before it ends. A restored copy adds no time.
    ///
    /// - Returns: the end of the last one that counts; `nil` if none does.
    static func end(of passes: [PaidTime]) -> Timestamp? {
        var originals: Set<String> = []
        var taken: Timestamp?
        var end: Timestamp?
        for pass in passes.sorted(by: { ($0.begin, $0.transaction) < ($1.begin, $1.transaction) })
        where originals.insert(pass.original).inserted {
            let next = max(taken ?? pass.begin, pass.begin).adding(pass.quantity, times: pass.duration)
            if let withdrawnAt = pass.withdrawnAt {
                taken = [taken, min(next, withdrawnAt)].compactMap(\.self).max()
            } else {
                (taken, end) = (next, next)
            }
        }
        return end
    }
}

extension PaidTime {
    init(_ purchase: ProvenPurchase, _ product: RegisteredProduct) {
        self.init(
            original: purchase.originalTransactionID, transaction: purchase.transactionID,
            begin: purchase.originalPurchaseDate ?? purchase.purchaseDate, quantity: purchase.quantity,
            duration: product.duration ?? 0)
    }

    init(_ purchase: RecordedPurchase) {
        self.init(
            original: purchase.originalTransactionID, transaction: purchase.transactionID, begin: purchase.purchasedAt,
            quantity: purchase.quantity, duration: purchase.duration ?? 0, withdrawnAt: purchase.withdrawnAt)
    }
}

extension Timestamp {
    /// A length of time later, so many times; the end of the year 9999 at the latest.
    func adding(_ count: Int64, times milliseconds: Int64) -> Timestamp {
        let (length, isTooLong) = milliseconds.multipliedReportingOverflow(by: count)
        let (sum, isTooLate) = millisecondsSince1970.addingReportingOverflow(length)
        return Timestamp(millisecondsSince1970: isTooLong || isTooLate ? Self.latest : min(sum, Self.latest))
    }

    private static let latest: Int64 = 253_402_300_799_999
}
