/// What the ledger decided about a claim. The raw value is the contract: the same in the record, in answers and in logs.
/// Evidence that is not genuine has the core's code instead (`ReasonCode`).
public enum DecisionCode: String, Sendable, CaseIterable {
    case accepted

    // MARK: The request

    case bodyMalformed = "body_malformed"
    case bodyTooLarge = "body_too_large"
    case fieldMissing = "field_missing"
    case fieldMalformed = "field_malformed"

    // MARK: The evidence and the claim

    case evidenceNotAPurchase = "evidence_not_a_purchase"
    case noPurchases = "no_purchases"
    case transactionNotFound = "transaction_not_found"
    case productMismatch = "product_mismatch"
    case productUnknown = "product_unknown"
    case quantityMismatch = "quantity_mismatch"
    case purchaseCancelled = "purchase_cancelled"
    case purchaseRevoked = "purchase_revoked"
    case purchaseUpgraded = "purchase_upgraded"
    case purchaseWithdrawn = "purchase_withdrawn"
    case subscriptionExpired = "subscription_expired"
    case appAccountTokenMismatch = "app_account_token_mismatch"
    case purchaseNotPaid = "purchase_not_paid"

    // MARK: The order and the owner

    case orderUnknown = "order_unknown"
    case orderOfAnotherCustomer = "order_of_another_customer"
    case orderAlreadyPaid = "order_already_paid"
    case orderExpired = "order_expired"
    case orderCancelled = "order_cancelled"
    case orderRefunded = "order_refunded"
    case alreadyClaimed = "already_claimed"

    /// The HTTP status of the answer.
    public var status: Int {
        switch self {
        case .accepted: 200
        case .bodyMalformed, .fieldMissing, .fieldMalformed: 400
        case .orderUnknown: 404
        case .bodyTooLarge: 413
        case .orderOfAnotherCustomer, .orderAlreadyPaid, .orderExpired, .orderCancelled, .orderRefunded,
            .alreadyClaimed:
            409
        case .evidenceNotAPurchase, .noPurchases, .transactionNotFound, .productMismatch,
            .productUnknown, .quantityMismatch, .purchaseCancelled, .purchaseRevoked, .purchaseUpgraded,
            .purchaseWithdrawn, .subscriptionExpired, .appAccountTokenMismatch, .purchaseNotPaid:
            422
        }
    }

    /// The sentence for people.
    public var sentence: String {
        switch self {
        case .accepted: "The purchase is genuine and was granted."
        case .bodyMalformed: "The body is not a JSON object."
        case .bodyTooLarge: "The body is larger than the server takes."
        case .fieldMissing: "A field that is needed is missing or empty."
        case .fieldMalformed: "A field has the wrong format."
        case .evidenceNotAPurchase: "The evidence is genuine, but of a kind that proves no purchase."
        case .noPurchases: "The receipt is genuine, but holds no purchase."
        case .transactionNotFound: "The transaction is not in the evidence."
        case .productMismatch: "The transaction is of another product."
        case .productUnknown: "The product is not one that is registered for the app."
        case .quantityMismatch: "The quantity is not the one that was bought."
        case .purchaseCancelled: "The App Store cancelled the purchase."
        case .purchaseRevoked: "The App Store revoked the purchase."
        case .purchaseUpgraded: "The subscription was replaced by an upgrade."
        case .purchaseWithdrawn: "The purchase was refunded or revoked before; older evidence does not undo that."
        case .subscriptionExpired: "The paid period of the subscription has ended."
        case .appAccountTokenMismatch: "The purchase is bound to another order."
        case .purchaseNotPaid:
            "Nothing was paid for the purchase that could pay an order: it is shared by a family or restored."
        case .orderUnknown: "There is no such order."
        case .orderOfAnotherCustomer: "The order belongs to another customer."
        case .orderAlreadyPaid: "The order is paid already, by another transaction."
        case .orderExpired: "The order expired before it was paid."
        case .orderCancelled: "The order was cancelled."
        case .orderRefunded: "The order was refunded."
        case .alreadyClaimed: "The purchase was claimed already, by another order or customer."
        }
    }
}
