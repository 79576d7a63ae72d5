import PurchaseLedger
import PurchaseVerification

/// A story of some purchases, as evidence and acts, and the result of the three steps.
struct PurchaseStory {
    var statements: [TransactionStatement] = []
    var renewals: [RenewalStatement] = []
    var tokens = TokenAssignments()
    var acts: [OwnershipAct] = []
    var terms: [ExactText: ProductTerms] = [
        "coins": ProductTerms(kind: .consumable), "pro": ProductTerms(kind: .nonConsumable),
        "monthly": ProductTerms(kind: .autoRenewable), "yearly": ProductTerms(kind: .autoRenewable),
        "pass": ProductTerms(kind: .nonRenewing, duration: .months(1)),
    ]
    var consumptions: [ConsumedUnits] = []
    var grants: [HandGrant] = []
    var revocations: [HandRevocation] = []

    static let alice = CustomerNumber(rawValue: 1)
    static let bob = CustomerNumber(rawValue: 2)
    static let carol = CustomerNumber(rawValue: 3)
    static let mallory = CustomerNumber(rawValue: 4)

    // MARK: Telling

    mutating func claim(_ id: String, _ customer: CustomerNumber, mayTransfer: Bool = false) {
        act(.claim(transaction: .sample(id), customer: customer, mayTransfer: mayTransfer))
    }

    mutating func act(_ content: OwnershipAct.Content) {
        acts.append(OwnershipAct(entry: Int64(acts.count + 1), content: content))
    }

    mutating func use(_ units: Int64, of id: String, _ customer: CustomerNumber, day: Double) {
        let lot = AccessSource.purchase(
            OwnershipKey(original: OriginalKey(environment: .production, transactionID: ExactText(id))))
        consumptions.append(
            ConsumedUnits(
                customer: customer, productID: "coins", environment: .production, date: .day(day),
                takings: [.init(lot: lot, units: units)]))
    }

    // MARK: Asking

    var facts: [TransactionKey: ObservedTransaction] {
        var facts: [TransactionKey: ObservedTransaction] = [:]
        for statement in statements {
            facts[statement.key] = facts[statement.key]?.merged(with: statement) ?? ObservedTransaction(statement)
        }
        return facts
    }

    var renewalFacts: [RenewalKey: ObservedRenewal] {
        var facts: [RenewalKey: ObservedRenewal] = [:]
        for statement in renewals {
            facts[statement.key] = facts[statement.key]?.merged(with: statement) ?? ObservedRenewal(statement)
        }
        return facts
    }

    var purchases: [OwnedPurchase] {
        Self.purchases(Array(facts.values), tokens: tokens, acts: acts, terms: terms)
    }

    static func purchases(
        _ facts: [ObservedTransaction], tokens: TokenAssignments, acts: [OwnershipAct],
        terms: [ExactText: ProductTerms]
    ) -> [OwnedPurchase] {
        Dictionary(grouping: facts, by: \.ownership).values.flatMap { transactions in
            let owners = Ownership(OwnershipInput(transactions: transactions, tokens: tokens, acts: acts))
            return PurchaseGrouping.purchases(of: transactions, owners: owners) { transaction in
                transaction.productID.flatMap { terms[$0] }
            }
        }
    }

    func entitlements(of customer: CustomerNumber) -> CustomerEntitlements {
        CustomerEntitlements(
            EntitlementInput(
                customer: customer, purchases: purchases, renewals: renewalFacts, consumptions: consumptions,
                grants: grants, revocations: revocations))
    }

    func access(
        _ customer: CustomerNumber, _ product: ExactText, day: Double, _ policy: RefundShortfallPolicy = .forgive
    ) -> ProductAccess? {
        entitlements(of: customer).access(.now(.day(day)), refundShortfall: policy).first { $0.productID == product }
    }

    func isActive(_ customer: CustomerNumber, _ product: ExactText, day: Double) -> Bool {
        access(customer, product, day: day)?.isActive ?? false
    }

    func denial(_ customer: CustomerNumber, _ product: ExactText, day: Double) -> NoAccessReason? {
        access(customer, product, day: day)?.denial
    }

    func balance(_ customer: CustomerNumber, day: Double, _ policy: RefundShortfallPolicy = .forgive) -> Int64 {
        access(customer, "coins", day: day, policy)?.balance ?? 0
    }

    func owner(_ id: String) -> CustomerNumber? {
        purchases.first { $0.transactions.contains { $0.key == .sample(id) } }?.owner
    }
}

extension Timestamp {
    /// This many days after 1 January 2026.
    static func day(_ day: Double) -> Timestamp {
        Timestamp(millisecondsSince1970: 1_767_225_600_000 + Int64(day * 86_400_000))
    }
}

extension TransactionKey {
    static func sample(_ id: String) -> TransactionKey {
        TransactionKey(environment: .production, transactionID: ExactText(id))
    }
}

extension AppAccountToken {
    static func sample(_ number: UInt64) -> AppAccountToken { AppAccountToken(high: 0, low: number) }
}

extension TransactionStatement {
    /// A signed transaction.
    static func signed(
        _ id: String, _ product: ExactText, _ kind: ProductKind, on day: Double, original: String? = nil,
        until end: Double? = nil, quantity: Int64 = 1, token: UInt64? = nil, stamp: Double? = nil,
        revoked: Double? = nil, percentage: Int64? = nil, isUpgraded: Bool = false, isShared: Bool = false
    ) -> TransactionStatement {
        var statement = TransactionStatement(key: .sample(id), source: .signedData, stamp: .day(stamp ?? day))
        statement.bundleID = "com.example.app"
        statement.originalTransactionID = ExactText(original ?? id)
        statement.productID = product
        statement.kind = kind
        statement.purchaseDate = .day(day)
        statement.originalPurchaseDate = original == nil ? .day(day) : nil
        statement.quantity = quantity
        statement.ownershipType = isShared ? "FAMILY_SHARED" : "PURCHASED"
        statement.lineItemID = kind == .autoRenewable ? ExactText("line-\(id)") : nil
        statement.end = end.map(Timestamp.day)
        statement.revocation = revoked.map { Revocation(date: .day($0), percentage: percentage) }
        statement.isUpgraded = isUpgraded
        statement.accountToken = token.map(AppAccountToken.sample)
        return statement
    }

    /// An entry of an app receipt.
    static func receipt(
        _ id: String, _ product: ExactText, _ kind: ProductKind, on day: Double, original: String? = nil,
        until end: Double? = nil, quantity: Int64 = 1, cancelled: Double? = nil
    ) -> TransactionStatement {
        var statement = signed(id, product, kind, on: day, original: original, until: end, quantity: quantity)
        statement.source = .appReceipt
        statement.cancellation = cancelled.map(Timestamp.day)
        return statement
    }
}

extension RenewalStatement {
    static func signed(
        _ original: String, stamp: Double, grace: Double? = nil, isInBillingRetry: Bool? = nil,
        autoRenew: Int64? = nil, intent: Int64? = nil, beside: ExactText? = nil, isGraceEndUnknown: Bool = false
    ) -> RenewalStatement {
        var info = RenewalInfo()
        (info.autoRenewStatus, info.expirationIntent) = (autoRenew, intent)
        info.graceEnd = grace.map(Timestamp.day)
        (info.isInBillingRetry, info.isGraceEndUnknown) = (isInBillingRetry, isGraceEndUnknown)
        return RenewalStatement(
            key: RenewalKey(environment: .production, originalTransactionID: ExactText(original)), stamp: .day(stamp),
            info: info, beside: beside)
    }
}
