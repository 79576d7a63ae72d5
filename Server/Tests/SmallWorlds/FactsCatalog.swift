import LedgerRules
import PurchaseVerification
import WrittenRules

/// Every value of facts that appeared, by number, so that a merge is computed once for each pair of facts and evidence.
struct FactsCatalog {
    private var values: [ObservedTransaction] = []
    private var numbers: [ObservedTransaction: UInt8] = [:]
    private var merges: [Merge: UInt8] = [:]

    private struct Merge: Hashable {
        let facts: UInt8
        let kind: WorldEvent.Kind
        let product: Int
    }

    /// The facts with a number; nil for 0.
    func facts(_ number: UInt8) -> ObservedTransaction? { number == 0 ? nil : values[Int(number) - 1] }

    /// The number of facts after one more piece of evidence.
    mutating func merged(_ facts: UInt8, _ kind: WorldEvent.Kind, _ product: Int) -> UInt8 {
        let merge = Merge(facts: facts, kind: kind, product: product)
        if let known = merges[merge] { return known }
        guard let statement = statement(kind, product) else { return facts }
        let merged = self.facts(facts)?.merged(with: statement) ?? ObservedTransaction(statement)
        let number: UInt8
        if let known = numbers[merged] {
            number = known
        } else {
            values.append(merged)
            number = UInt8(values.count)
            numbers[merged] = number
        }
        merges[merge] = number
        return number
    }

    static func key(_ product: Int, _ transaction: Int) -> TransactionKey {
        TransactionKey(environment: .production, transactionID: ExactText("\(product + 1)\(transaction + 1)"))
    }

    static func day(_ day: Int) -> Timestamp {
        Timestamp(millisecondsSince1970: 1_767_225_600_000 + Int64(day) * 86_400_000)
    }

    static let products: [ExactText] = ["monthly", "yearly"]

    /// The statement of a kind of evidence about the subscription that starts with a product.
    func statement(_ kind: WorldEvent.Kind, _ product: Int) -> TransactionStatement? {
        guard let written = WrittenStatement(kind) else { return nil }
        let days = WrittenStatement.days(of: written.transaction)
        let key = Self.key(product, written.transaction)
        var statement = TransactionStatement(
            key: key, source: written.isReceipt ? .appReceipt : .signedData, stamp: Self.day(written.stamp))
        statement.cancellation = written.isReceipt ? Self.day(written.stamp) : nil
        statement.bundleID = "com.example.app"
        statement.originalTransactionID = Self.key(product, 0).transactionID
        statement.productID = Self.products[WrittenStatement.product(of: written.transaction, startingWith: product)]
        statement.kind = .autoRenewable
        (statement.purchaseDate, statement.end) = (Self.day(days.start), Self.day(days.end))
        statement.ownershipType = "PURCHASED"
        statement.lineItemID = ExactText("line-\(key.transactionID)")
        statement.revocation = written.refundedAt.map { Revocation(date: Self.day($0)) }
        statement.isUpgraded = written.isFlagged
        statement.accountToken = written.token.map { token in
            AppAccountToken(high: 0, low: UInt64(token == .ofProduct ? product : 1 - product))
        }
        return statement
    }
}
