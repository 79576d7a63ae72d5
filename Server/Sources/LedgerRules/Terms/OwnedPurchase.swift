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

/// A withdrawal by Apple: the transaction was refunded, revoked from a family, or, as receipts put it, cancelled.
public struct Withdrawal: Sendable, Hashable {
    /// The time from which it is in force.
    public var date: Timestamp
    /// The evidence of the withdrawal.
    public var cause: Cause
    /// The number of withdrawn units.
    public var units: Int64
    /// When it was signed; for the cancellation of a receipt its date.
    public var stamp: Timestamp
    /// Whether it only ended a share of a family.
    public var isFamilyRevoke: Bool
    /// Apple's reason of a revocation (`revocationReason`): 1 for an issue in the app, 0 for any other; `nil` if none
    /// is signed.
    public var appStoreReason: Int64?

    /// The kinds of evidence of a withdrawal.
    public enum Cause: String, Sendable, CaseIterable {
        /// The cancellation date of a receipt. It does not distinguish a refund from an upgrade.
        case cancelled
        /// The revocation of a signed transaction.
        case revoked
    }

    /// Creates a withdrawal, signed at its date.
    public init(date: Timestamp, cause: Cause, units: Int64, stamp: Timestamp? = nil, isFamilyRevoke: Bool = false) {
        self.date = date
        self.cause = cause
        self.units = units
        self.stamp = stamp ?? date
        self.isFamilyRevoke = isFamilyRevoke
    }

    /// Why there is no access after it.
    package var reason: NoAccessReason {
        switch cause {
        case .cancelled: .cancelled
        case .revoked: isFamilyRevoke ? .familyRevoked : .revoked
        }
    }
}
