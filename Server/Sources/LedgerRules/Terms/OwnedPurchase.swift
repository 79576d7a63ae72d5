public import PurchaseVerification

/// One purchase with one or more transaction ids: restoring a purchase creates copies of it.
///
/// It is a class because it is large and passed around.
public final class OwnedPurchase: Sendable {
    public let ownership: OwnershipKey
    /// Its transactions, the earliest first; at least one.
    public let transactions: [ObservedTransaction]
    /// The owner; `nil` if it is held.
    public let owner: CustomerNumber?
    /// Other owners (`TransactionOwner.others`).
    public let others: [CustomerNumber]
    /// The product's settings; `nil` if it is not registered.
    public let terms: ProductTerms?
    public let productID: ExactText?
    /// The kind that the evidence states.
    public let statedKind: ProductKind?
    public let quantity: Int64
    /// When it begins: the purchase date of a period; otherwise the purchase date of the original.
    public let start: Timestamp
    /// When its paid period ends, for auto-renewable subscriptions.
    public let end: Timestamp?
    /// Apple's withdrawal, by the statements of all of its transactions together.
    public let withdrawal: Withdrawal?
    /// When it was first signed that the customer upgraded from this period.
    public let upgradedAt: Timestamp?
    /// Whether it was bought after an earlier purchase of the same original was withdrawn.
    public let isRepurchase: Bool

    package init(
        ownership: OwnershipKey, transactions: [ObservedTransaction], owner: CustomerNumber?, others: [CustomerNumber],
        terms: ProductTerms?, productID: ExactText?, statedKind: ProductKind?, quantity: Int64, start: Timestamp,
        end: Timestamp?, withdrawal: Withdrawal?, upgradedAt: Timestamp?, isRepurchase: Bool = false
    ) {
        self.ownership = ownership
        self.transactions = transactions
        self.owner = owner
        self.others = others
        self.terms = terms
        self.productID = productID
        self.statedKind = statedKind
        self.quantity = quantity
        self.start = start
        self.end = end
        self.withdrawal = withdrawal
        self.upgradedAt = upgradedAt
        self.isRepurchase = isRepurchase
    }

    /// The transaction that represents it: the earliest.
    public var transaction: TransactionKey? { transactions.first?.key }

    /// The kind that determines its rule: the one in the settings, or the stated one if the product is not registered.
    public var kind: ProductKind? { terms?.kind ?? statedKind }

    /// The reason why it gives nothing under the settings; `nil` if it counts.
    public var refusal: NoAccessReason? {
        guard let terms, productID != nil else { return .productUnknown }
        guard statedKind == nil || statedKind == terms.kind else { return .productKindMismatch }
        return terms.kind == .nonRenewing && terms.duration == nil ? .productUnknown : nil
    }
}
