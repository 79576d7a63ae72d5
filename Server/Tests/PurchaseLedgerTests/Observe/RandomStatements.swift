import PurchaseLedger
import PurchaseVerification
import TestSupport

/// Statements at random, chosen from so few values that many disagree, tie or repeat.
struct RandomStatements {
    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: values.indices, using: &generator)] }

    mutating func maybe<Value>(_ values: [Value]) -> Value? { chance(70) ? pick(values) : nil }

    mutating func moment() -> Timestamp { pick([.day(0), .day(0.5), .day(1), .day(2), .day(3)]) }

    mutating func maybeMoment() -> Timestamp? { chance(60) ? moment() : nil }

    mutating func statement(of key: TransactionKey = .sample("1")) -> TransactionStatement {
        // A stamp of 1970 means evidence without any date.
        let stamp = chance(20) ? Timestamp(millisecondsSince1970: 0) : moment()
        var statement = TransactionStatement(key: key, source: pick(EvidenceSource.allCases), stamp: stamp)
        statement.bundleID = maybe(["com.example.app", "com.example.other"])
        statement.originalTransactionID = maybe(["1", "0"])
        statement.productID = maybe(["monthly", "yearly", "K\u{301}", "\u{1E30}"])
        statement.kind = maybe(ProductKind.allCases)
        statement.subscriptionGroupID = maybe(["group"])
        statement.purchaseDate = maybeMoment()
        statement.originalPurchaseDate = maybeMoment()
        statement.quantity = maybe([0, 1, 3, 1_000_000_000, .max])
        statement.lineItemID = maybe(["10", "9"])
        statement.ownershipType = maybe(["PURCHASED", "FAMILY_SHARED"])
        statement.price = PurchasePrice(milliunits: maybe([0, 990, -1]), currency: maybe(["EUR", "USD"]))
        statement.storefront = Storefront(country: maybe(["DEU"]), number: maybe(["143443"]))
        statement.offer = PurchaseOffer(
            type: maybe([1, 2, 3]), identifier: maybe(["spring"]), discountType: maybe(["FREE_TRIAL"]),
            period: maybe(["P1M"]))
        statement.reason = maybe(["PURCHASE", "RENEWAL"])
        statement.appTransactionID = maybe(["700", "71"])
        statement.productNumber = maybe([1, .max])
        statement.otherClaims = maybe([Array("{\"a\":1}".utf8), []])
        statement.end = maybeMoment()
        statement.revocation = chance(40) ? revocation() : nil
        statement.cancellation = maybeMoment()
        statement.isUpgraded = chance(20)
        statement.accountToken = maybe([.sample(1), .sample(2), AppAccountToken(high: .max, low: .max)])
        return statement
    }

    private mutating func revocation() -> Revocation {
        Revocation(
            date: moment(), reason: maybe([0, 1]), type: maybe(["REFUND_FULL", "REFUND_PRORATED"]),
            percentage: maybe([0, 1, 33_333, 100_000, .max, -1]))
    }

    mutating func renewal() -> RenewalStatement {
        var info = RenewalInfo()
        info.productID = maybe(["monthly"])
        info.nextProductID = maybe(["monthly", "yearly"])
        info.autoRenewStatus = maybe([0, 1])
        info.expirationIntent = maybe([1, 2, .min])
        info.isInBillingRetry = maybe([true, false])
        info.priceIncreaseStatus = maybe([0, 1])
        info.graceEnd = maybeMoment()
        info.renewalDate = maybeMoment()
        info.renewalPrice = PurchasePrice(milliunits: maybe([990]), currency: maybe(["EUR"]))
        info.recentStart = maybeMoment()
        info.offer = PurchaseOffer(type: maybe([1]), identifier: maybe(["spring"]))
        info.accountToken = maybe([.sample(1)])
        info.appTransactionID = maybe(["700"])
        info.otherClaims = maybe([Array("{}".utf8)])
        let key = RenewalKey(environment: .production, originalTransactionID: "1")
        return RenewalStatement(key: key, stamp: moment(), info: info, beside: maybe(["1", "2"]))
    }
}
