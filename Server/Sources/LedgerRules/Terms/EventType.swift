/// The types of events. Expiry is not an event: it depends only on the time.
public enum EventType: String, Sendable, CaseIterable {
    /// A purchase has its first owner.
    case granted
    /// A further period of a subscription has an owner.
    case renewed
    /// The App Store extended a period.
    case extended
    /// A purchase has another owner.
    case transferred
    /// Apple withdrew a purchase or part of it.
    case revoked
    /// A refund was reversed, or part of it.
    case reversed
    /// An upgrade ended a period.
    case upgraded
    /// Auto-renew, the next product, the consent to a price, a billing retry, a grace period or the next offer of a
    /// subscription changed.
    case renewalChanged = "renewal_changed"
    /// Evidence disagrees with other evidence about the same transaction.
    case contradicted
    case consumed
    case orderCreated = "order_created"
    case orderPaid = "order_paid"
    /// Some units of an order were delivered, and others remain.
    case orderPartlyFulfilled = "order_partly_fulfilled"
    case orderFulfilled = "order_fulfilled"
    /// An operator ended a paid order.
    case orderClosed = "order_closed"
    case orderCancelled = "order_cancelled"
    case orderRefunded = "order_refunded"
    /// An order waits for payment again: its purchase was transferred to another customer, or used for another order
    /// that a claim named.
    case orderReopened = "order_reopened"
    /// The refund of an order's purchase was reversed.
    case orderRestored = "order_restored"
    case grantAdded = "grant_added"
    case revocationAdded = "revocation_added"
    case actLifted = "act_lifted"
    /// Another shop gives a product, or gives it for longer.
    case groundAdded = "ground_added"
    /// What another shop gave has ended.
    case groundEnded = "ground_ended"
    case customerMerged = "customer_merged"
    /// A customer was erased. The event has no name.
    case customerErased = "customer_erased"
    case tokenAssigned = "token_assigned"
    /// A claim that waited for the App Store was decided. The reason is its code.
    case claimDecided = "claim_decided"
    /// The App Store refused a purchase that stays granted. The reason is the code of its answer.
    case notConfirmed = "not_confirmed"
    /// A customer claimed a purchase that belongs to another customer, as two customers of one Apple Account do.
    case claimConflict = "claim_conflict"
    /// A customer asked the App Store for a refund. The event says until when the server can tell Apple what it knows.
    case refundRequested = "refund_requested"
    /// Whoever is responsible for the user withdrew the consent to the app (Apple, `RESCIND_CONSENT`).
    case consentRescinded = "consent_rescinded"
    /// A customer got a seat of a subscription.
    case seatClaimed = "seat_claimed"
    /// A customer's seat of a subscription ended.
    case seatUnclaimed = "seat_unclaimed"
    /// Apple asked for a report about an external purchase token (Apple, `EXTERNAL_PURCHASE_TOKEN`). The event says
    /// when Apple is told that it has no line items, unless some are stated.
    case externalPurchaseTokenDue = "external_purchase_token_due"
    /// A report about an external purchase token is late: Apple refused it, or could not be reached.
    case externalPurchaseTokenOverdue = "external_purchase_token_overdue"
    /// A product was registered, so its known purchases now count.
    case registered
}
