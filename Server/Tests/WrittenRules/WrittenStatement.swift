/// What one piece of evidence states about a transaction, in days.
public struct WrittenStatement: Sendable, Hashable {
    /// 0 the purchase, 1 the renewal, 2 the upgrade.
    public let transaction: Int
    /// The day on which it was signed.
    public let stamp: Int
    /// The day of the refund that it states.
    public var refundedAt: Int?
    /// Whether it states that the customer upgraded.
    public var isFlagged = false
    /// Whether it is of a receipt: it has no signing date, and a cancellation by an upgrade on the day of its stamp.
    public var isReceipt = false
    /// The account token that it has: that of the product, or of the other one.
    public var token: Token?

    /// The account tokens of a subscription.
    public enum Token: Sendable, Hashable {
        case ofProduct
        case ofOtherProduct
    }

    /// The statement of a kind of evidence.
    public init?(_ kind: WorldEvent.Kind) {
        switch kind {
        case .bought: (transaction, stamp) = (0, 0)
        case .named:
            (transaction, stamp) = (0, 1)
            token = .ofProduct
        case .renewed:
            (transaction, stamp) = (1, 28)
            token = .ofOtherProduct
        case .renewalRefunded:
            (transaction, stamp) = (1, 29)
            (refundedAt, token) = (29, .ofOtherProduct)
        case .refunded:
            (transaction, stamp) = (0, 10)
            refundedAt = 10
        case .reversed: (transaction, stamp) = (0, 22)
        case .upgraded: (transaction, stamp) = (2, 15)
        case .flagged:
            (transaction, stamp) = (0, 15)
            isFlagged = true
        case .upgradeRefunded:
            (transaction, stamp) = (2, 20)
            refundedAt = 20
        case .cancelled:
            (transaction, stamp) = (0, 15)
            (isFlagged, isReceipt) = (true, true)
        case .graced, .claimed, .renewalClaimed, .assigned, .moved, .merged: return nil
        }
    }

    /// When the period of a transaction begins and ends.
    public static func days(of transaction: Int) -> (start: Int, end: Int) {
        [(0, 30), (28, 60), (15, 45)][transaction]
    }

    /// The product of a transaction of the subscription that starts with a product.
    public static func product(of transaction: Int, startingWith product: Int) -> Int {
        transaction == 2 ? 1 - product : product
    }

    /// Every day on which something can change.
    public static let changes = [0, 10, 15, 20, 28, 29, 30, 45, 46, 60]
}
