public import PurchaseVerification

/// A transaction of an export, with what became of it as it is known now. The figures of a report are counted from
/// these rows alone (docs/figures.md).
public struct ExportedPurchase: Sendable, Equatable {
    public var transactionID: String
    public var originalTransactionID: String
    public var productID: String
    /// The owner; `nil` if it is held, or if no names were asked for.
    public var customerID: String?
    public var environment: AppStoreEnvironment
    /// The kind as it is signed; otherwise that of the settings.
    public var kind: ProductKind?
    public var ownership = Ownership.bought
    /// The transaction of which it is a restored copy.
    public var copyOf: String?
    public var quantity: Int64 = 1
    public var refundedQuantity: Int64 = 0
    public var purchasedAt: Timestamp?
    /// The paid end of a period.
    public var expiresAt: Timestamp?
    public var graceUntil: Timestamp?
    /// When Apple stopped, or will stop, to collect the price of the next period.
    public var retryUntil: Timestamp?
    public var upgradedAt: Timestamp?
    /// When Apple refunded or revoked it.
    public var revokedAt: Timestamp?
    /// Why it ended, if that is signed.
    public var endReason: EndReason?
    public var offerType: Int64?
    public var offerMode: String?
    /// What was paid for the whole quantity, in thousandths of the currency.
    public var amount: Int64?
    public var currency: String?
    public var storefront: String?
    public var knownAt: Timestamp

    /// Who has it.
    public enum Ownership: String, Sendable { case bought, shared, assigned }

    /// Why a period ended without a next one.
    public enum EndReason: String, Sendable, CaseIterable {
        case voluntary, billing, price, unavailable, other, refunded, upgraded
        /// Nothing signed says whether it was renewed.
        case newsMissing = "news_missing"
        /// A period of another product followed, so it ended only for its own product.
        case productChanged = "product_changed"

        /// The reason by Apple's number (`expirationIntent`).
        init(intent: Int64) {
            self = [1: .voluntary, 2: .billing, 3: .price, 4: .unavailable][intent] ?? .other
        }
    }

    /// A row with the fields that each has.
    public init(
        _ transactionID: String, original: String, product: String, environment: AppStoreEnvironment,
        kind: ProductKind?, knownAt: Timestamp
    ) {
        (self.transactionID, originalTransactionID, productID) = (transactionID, original, product)
        (self.environment, self.kind, self.knownAt) = (environment, kind, knownAt)
    }

    /// Whether it counts in figures: what others share and what was restored was bought once.
    var counts: Bool { ownership == .bought && copyOf == nil }

    /// Whether it is a free trial, or a period of an introductory offer.
    var isTrial: Bool { offerType == 1 || offerMode == "FREE_TRIAL" }

    /// The end of what was paid, without what was refunded or left for another product.
    var paidUntil: Timestamp? { [expiresAt, revokedAt, upgradedAt].compactMap(\.self).min() }

    private var isCut: Bool { paidUntil != expiresAt }
    /// The end of the access.
    var coveredUntil: Timestamp? { isCut ? paidUntil : graceUntil ?? expiresAt }
    /// The end of the access and of the retry.
    var pursuedUntil: Timestamp? { isCut ? paidUntil : [coveredUntil, retryUntil].compactMap(\.self).max() }

    /// The state at a time.
    public func state(at moment: Timestamp) -> String {
        if let revokedAt, revokedAt <= moment, refundedQuantity >= quantity || expiresAt != nil { return "refunded" }
        guard expiresAt != nil, let pursuedUntil, let coveredUntil, let paidUntil, let purchasedAt else {
            return "bought"
        }
        if moment < purchasedAt { return "pending" }
        if moment < paidUntil { return "active" }
        if upgradedAt.map({ $0 <= moment }) ?? false { return "upgraded" }
        return moment < coveredUntil ? "in_grace" : moment < pursuedUntil ? "in_retry" : "expired"
    }
}

extension PurchaseHistory {
    /// The rows of an export, without names. Nothing is left of erased purchases.
    var exported: [ExportedPurchase] {
        let known = records.filter { !$0.isErased }
        let rows = Dictionary(known.map { ($0.facts.key, $0.row) }, uniquingKeysWith: { first, _ in first })
        return known.map(\.facts).holders.flatMap { holder -> [ExportedPurchase] in
            // The settings do not count: only what is signed.
            let purchases = PurchaseGrouping.purchases(
                of: known.map(\.facts).filter { $0.ownership.holder == holder }, owners: Ownership(owners: [:])
            ) { facts in (facts.kind ?? rows[facts.key]?.kind).map { ProductTerms(kind: $0) } }
            let periods = purchases.filter { $0.kind == .autoRenewable }
            let table = SubscriptionTable(periods, renewal: renewal, status: status(of: holder))
            let outcomes = periods.isEmpty ? [:] : table.outcomes
            return purchases.flatMap { purchase in
                let outcome = purchase.transaction.flatMap { outcomes[$0] }
                return purchase.transactions.compactMap { facts in
                    rows[facts.key].map { ExportedPurchase(facts, $0, of: purchase, outcome) }
                }
            }
        }
    }
}

extension ExportedPurchase {
    fileprivate init(
        _ facts: ObservedTransaction, _ row: TransactionRow, of purchase: OwnedPurchase, _ outcome: PeriodOutcome?
    ) {
        self.init(
            row.transactionID, original: facts.original.transactionID.string,
            product: purchase.productID?.string ?? "", environment: facts.key.environment, kind: purchase.kind,
            knownAt: row.knownAt)
        switch facts.ownership.holder {
        case .buyer: ownership = .bought
        case .family: ownership = .shared
        case .assigned, .assignedTransaction: ownership = .assigned
        }
        let first = purchase.transaction?.transactionID.string ?? row.transactionID
        let isCopy = first != row.transactionID
        copyOf = isCopy ? first : nil
        quantity = facts.quantity
        // The first copy can lack what another one states.
        let all = isCopy ? [facts] : purchase.transactions
        purchasedAt = isCopy ? facts.purchaseDate : purchase.start > .epoch ? purchase.start : nil
        (expiresAt, upgradedAt) = (purchase.end, purchase.upgradedAt)
        (graceUntil, retryUntil) = (outcome?.graceUntil, outcome?.retryUntil)
        revokedAt = purchase.withdrawal?.date ?? outcome?.revokedAt
        refundedQuantity = purchase.withdrawal?.units ?? (revokedAt == nil ? facts.refundedSeats : quantity)
        let offer = all.lazy.compactMap(\.offer).first
        (offerType, offerMode) = (offer?.type, offer?.discountType?.string)
        let price = all.lazy.compactMap(\.price).first
        // Each seat has the price.
        amount = price?.milliunits.map { $0.saturatingProduct(facts.seats?.quantity ?? 1) }
        currency = price?.currency?.string
        storefront = all.lazy.compactMap { $0.storefront?.country?.string }.first
        if expiresAt != nil {
            let signed = outcome?.renewal?.expirationIntent.map { EndReason(intent: $0) }
            let isOff = outcome?.renewal?.autoRenewStatus == 0
            endReason =
                revokedAt != nil && revokedAt == paidUntil
                ? .refunded
                : upgradedAt != nil && upgradedAt == paidUntil ? .upgraded : signed ?? (isOff ? .voluntary : nil)
        }
    }
}
