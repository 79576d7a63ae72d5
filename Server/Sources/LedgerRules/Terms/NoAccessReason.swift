/// The reason why a product gives no access, or why it still gives some. The raw value is part of API answers and never
/// changes.
public enum NoAccessReason: String, Sendable, CaseIterable {
    /// The paid time has ended.
    case expired
    /// The paid time has ended, and Apple still tries to collect the price of the next period.
    case billingRetry = "billing_retry"
    /// The paid time has ended, and nothing says that the subscription was not renewed: the news of it are missing.
    case newsMissing = "news_missing"
    /// The paid time has ended, and the App Store gives a grace period while it tries to collect the next price. It is
    /// the only reason with access.
    case inGrace = "in_grace"
    /// The purchase is no longer shared with this member of a family.
    case familyRevoked = "family_revoked"
    /// Apple refunded or revoked the purchase, by signed data.
    case revoked
    /// Apple cancelled the purchase, by the cancellation date of a receipt.
    case cancelled
    /// The customer upgraded to another product.
    case upgraded
    /// A later period of the same subscription, with another product, has replaced it.
    case superseded
    /// All units of a consumable were used.
    case consumed
    /// The purchase begins later.
    case notStarted = "not_started"
    /// The purchase has no owner yet.
    case held
    /// The purchase belongs to another customer: it was transferred, or carries that customer's account token.
    case ownedByAnother = "owned_by_another"
    /// An operator revoked the purchase or the grant.
    case revokedByHand = "revoked_by_hand"
    /// Sandbox purchases do not count for this customer.
    case sandboxNotAccepted = "sandbox_not_accepted"
    /// The customer claimed a seat of a subscription, and as many claims are older as it has seats.
    case noSeat = "no_seat"
    /// The customer's seat of a subscription ended.
    case seatUnclaimed = "seat_unclaimed"
    /// The product is not registered, or a non-renewing subscription has no duration in the settings.
    case productUnknown = "product_unknown"
    /// Signed data states another kind of product than the settings.
    case productKindMismatch = "product_kind_mismatch"
    /// No evidence states the end of the period.
    case periodUnknown = "period_unknown"
}
