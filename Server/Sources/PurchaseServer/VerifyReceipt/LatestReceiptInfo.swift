import PurchaseAPI
import PurchaseLedger
package import PurchaseVerification

/// `latest_receipt_info`: the purchases of a receipt, and those that the ledger knows of the same originals.
struct LatestReceiptInfo {
    private struct Item {
        var answer: VerifyReceiptResponse.InAppPurchase
        var isSubscription: Bool
        /// Whether it is a product that is neither a subscription nor used up.
        var isLasting = false
        /// The place in the receipt; `nil` for a transaction that only the ledger knows.
        var place: Int?

        var second: Int64? { answer.purchaseDate?.inWholeSeconds.millisecondsSince1970 }
        var original: ExactText { ExactText(answer.originalTransactionID ?? answer.transactionID) }
    }

    private var items: [Item]

    /// No purchases.
    init() { items = [] }

    /// The purchases at the time of the signature.
    ///
    /// - Parameters:
    ///   - receipt: the receipt.
    ///   - answers: the answer for each of its purchases, in the order of the receipt.
    init(of receipt: AppReceipt, _ answers: [VerifyReceiptResponse.InAppPurchase]) {
        items = zip(receipt.inAppPurchases, answers).enumerated().map { place, pair in
            Item(
                answer: pair.1, isSubscription: pair.0.isAutoRenewable,
                isLasting: [.nonConsumable, .nonRenewingSubscription].contains(pair.0.productType), place: place)
        }
    }

    /// Adds what the ledger knows.
    mutating func add(_ standing: ReceiptStanding) {
        var places: [ExactText: Int] = [:]
        for (index, item) in items.enumerated() { places[ExactText(item.answer.transactionID)] = index }
        for entry in standing.entries {
            if let index = places[entry.facts.key.transactionID] {
                items[index].answer.add(entry)
                if let kind = entry.facts.kind { items[index].isLasting = kind.isLasting }
            } else {
                var answer = VerifyReceiptResponse.InAppPurchase(
                    productID: entry.facts.productID?.string ?? "", transactionID: entry.facts.key.transactionID.string)
                answer.add(entry)
                items.append(
                    Item(
                        answer: answer, isSubscription: entry.facts.kind == .autoRenewable,
                        isLasting: entry.facts.kind?.isLasting ?? false, place: nil))
            }
        }
    }

    /// The entries, the newest first.
    ///
    /// - Parameter excludingOld: only the latest period of each subscription, and what is known to be neither a
    ///   subscription nor consumable. A recorded answer omits a consumable.
    func entries(excludingOld: Bool) -> [VerifyReceiptResponse.InAppPurchase] {
        var sorted = items.sorted(by: Self.isNewer)
        if excludingOld {
            var seen: Set<ExactText> = []
            sorted = sorted.filter { $0.isLasting || $0.isSubscription && seen.insert($0.original).inserted }
        }
        return sorted.map(\.answer)
    }

    /// Purchases of the same second keep the order of the receipt; those that it lacks come before them, the greatest
    /// number first.
    private static func isNewer(_ left: Item, _ right: Item) -> Bool {
        if left.second != right.second { return (left.second ?? .min) > (right.second ?? .min) }
        switch (left.place, right.place) {
        case (let left?, let right?): return left < right
        case (nil, _?): return true
        case (_?, nil): return false
        case (nil, nil):
            return ExactText.isNumericallyBefore(
                ExactText(right.answer.transactionID), ExactText(left.answer.transactionID))
        }
    }
}

extension InAppPurchaseContent {
    /// Whether the purchase is a period of an auto-renewable subscription. Xcode's receipts do not state the kind of a
    /// product, but only these have an expiry date.
    package var isAutoRenewable: Bool {
        switch productType {
        case .autoRenewableSubscription: true
        case nil: expiresDate != nil
        default: false
        }
    }
}

extension ProductKind {
    /// Whether a purchase is neither renewed nor used up.
    fileprivate var isLasting: Bool { self == .nonConsumable || self == .nonRenewing }
}
