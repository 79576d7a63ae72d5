/// The order of the keys of `purchase-info`, as genuine receipts have it.
///
/// The keys of a receipt are in the order of a hash table, which depends on their number. Eleven sets of keys are known
/// from genuine receipts. A verifier should not depend on the order, but minted receipts have the genuine one.
enum PurchaseInfoKeyOrder {
    typealias Entry = TransactionReceiptTemplate.Entry

    /// The entries in the order of the smallest known set with all of their keys; unknown keys come last, in the given
    /// order.
    static func sorted(_ entries: [Entry]) -> [Entry] {
        let keys = Set(entries.map(\.key))
        let known = keys.intersection(all)
        let order =
            orders.filter { known.isSubset(of: $0) }.min { $0.count < $1.count }
            ?? orders.max { $0.count < $1.count } ?? []
        var rest = entries
        var sorted: [Entry] = []
        for key in order {
            if let index = rest.firstIndex(where: { $0.key == key }) { sorted.append(rest.remove(at: index)) }
        }
        return sorted + rest
    }

    private static let all = Set(orders.joined())

    /// In a line each: the receipts that have it, and the keys.
    private static let orders = """
        13 keys, 2012, version 2, production and sandbox: original-purchase-date-pst original-transaction-id bvrs \
        transaction-id quantity original-purchase-date-ms product-id item-id bid purchase-date-ms purchase-date \
        purchase-date-pst original-purchase-date
        14 keys, 2012, version 2, sandbox: original-purchase-date-pst unique-identifier original-transaction-id bvrs \
        transaction-id quantity original-purchase-date-ms product-id item-id bid purchase-date-ms purchase-date \
        purchase-date-pst original-purchase-date
        15 keys, 2015, version 2, sandbox: original-purchase-date-pst unique-identifier original-transaction-id bvrs \
        transaction-id quantity original-purchase-date-ms unique-vendor-identifier product-id item-id bid \
        purchase-date-ms purchase-date purchase-date-pst original-purchase-date
        17 keys, 2014, version 2, sandbox: original-purchase-date-pst purchase-date-ms unique-identifier \
        original-transaction-id bvrs app-item-id transaction-id quantity original-purchase-date-ms \
        unique-vendor-identifier item-id version-external-identifier product-id purchase-date original-purchase-date \
        bid purchase-date-pst
        19 keys, 2019, 2020, version 3, production: original-purchase-date-pst purchase-date-ms unique-identifier \
        original-transaction-id bvrs app-item-id transaction-id quantity original-purchase-date-ms \
        unique-vendor-identifier item-id version-external-identifier is-in-intro-offer-period product-id purchase-date \
        is-trial-period original-purchase-date bid purchase-date-pst
        19 keys, 2013, version 2, production: original-purchase-date-pst purchase-date-ms unique-identifier \
        original-transaction-id expires-date app-item-id transaction-id quantity web-order-line-item-id \
        original-purchase-date-ms expires-date-formatted-pst item-id expires-date-formatted product-id purchase-date \
        original-purchase-date purchase-date-pst bid bvrs
        19 keys, 2017, version 3, sandbox: original-purchase-date-pst purchase-date-ms unique-identifier \
        original-transaction-id expires-date transaction-id original-purchase-date-ms web-order-line-item-id bvrs \
        unique-vendor-identifier expires-date-formatted-pst item-id expires-date-formatted product-id purchase-date \
        original-purchase-date bid purchase-date-pst quantity
        21 keys, 2013, version 2, sandbox: original-purchase-date-pst purchase-date-ms unique-identifier \
        original-transaction-id expires-date app-item-id transaction-id quantity original-purchase-date-ms \
        version-external-identifier unique-vendor-identifier web-order-line-item-id item-id expires-date-formatted \
        purchase-date product-id expires-date-formatted-pst original-purchase-date purchase-date-pst bid bvrs
        21 keys, 2017, 2018, version 3, sandbox: original-purchase-date-pst is-in-intro-offer-period purchase-date-ms \
        unique-identifier original-transaction-id expires-date transaction-id quantity web-order-line-item-id \
        original-purchase-date-ms unique-vendor-identifier expires-date-formatted-pst item-id expires-date-formatted \
        original-purchase-date product-id purchase-date is-trial-period purchase-date-pst bid bvrs
        24 keys, 2019, 2020, version 3, production: original-purchase-date-pst quantity subscription-group-identifier \
        unique-vendor-identifier original-purchase-date-ms expires-date-formatted is-in-intro-offer-period \
        purchase-date-ms expires-date-formatted-pst is-trial-period item-id unique-identifier original-transaction-id \
        expires-date app-item-id transaction-id bvrs web-order-line-item-id version-external-identifier bid product-id \
        purchase-date purchase-date-pst original-purchase-date
        25 keys, 2025, version 4, production: original-purchase-date-pst quantity subscription-group-identifier \
        unique-vendor-identifier original-purchase-date-ms expires-date-formatted is-in-intro-offer-period \
        purchase-date-ms expires-date-formatted-pst is-trial-period item-id unique-identifier original-transaction-id \
        expires-date app-item-id transaction-id in-app-ownership-type bvrs web-order-line-item-id \
        version-external-identifier bid product-id purchase-date purchase-date-pst original-purchase-date
        """.split(separator: "\n").map { $0.drop { $0 != ":" }.dropFirst().split(separator: " ").map(String.init) }
}
