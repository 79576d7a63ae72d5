import PurchaseVerification

/// The kinds of journal entries. Their numbers are in the leaves, so they never change.
public enum JournalKind: UInt8, Sendable, CaseIterable {
    /// Evidence without a claim.
    case evidence = 1
    /// An unsigned answer of the App Store. It can refuse and contradict but never grant.
    case appStoreAnswer = 2
    /// A claim, with its evidence and its decision.
    case claim = 3
    case orderCreated = 4
    case orderCancelled = 5
    case orderFulfilled = 6
    case consumed = 7
    case tokenAssigned = 8
    case purchaseMoved = 9
    case customerMerged = 10
    case customerErased = 11
    case grantAdded = 12
    case revocationAdded = 13
    case actLifted = 14
    case testersChanged = 15
    case settings = 16
    case bundleBound = 17
    case keyCreated = 18
    case keyRevoked = 19
    /// A new version of the rules that compute facts, owners and entitlements.
    case rules = 20
    /// A new origin of the Merkle log, after a restore from a backup.
    case recordContinued = 21
    /// An operator ended a paid order.
    case orderClosed = 22
    /// The first delivery of a server notification.
    case notification = 23
    /// A seat of a subscription was given to a customer.
    case seatClaimed = 26
    case seatUnclaimed = 27
    /// A product that another shop gives, or its later end.
    case groundAdded = 28
    /// The end of such a ground.
    case groundEnded = 29
    /// A customer's answer to the question whether their use of purchases may be told to Apple.
    case consumptionConsent = 33
    /// What Apple was told about the use of a purchase, or why it was told nothing.
    case consumptionAnswered = 34
    /// An operator asked Apple to extend a subscription.
    case extensionRequested = 35
    /// Apple's answer to such a request.
    case extensionAnswered = 36
    /// An offer was signed for a customer.
    case offerSigned = 37
    /// Several refused pieces of evidence of one request, or the number of refusals of an API key beyond the daily
    /// budget.
    case refusals = 48
    /// The App Store accepted an account token for a purchase.
    case tokenSetAtApple = 38
    /// The outcome of a claim that was decided after it was recorded.
    case decision = 32

    /// The name in API answers and exports.
    public var name: String {
        switch self {
        case .evidence: "evidence"
        case .appStoreAnswer: "app_store_answer"
        case .claim: "claim"
        case .orderCreated: "order_created"
        case .orderCancelled: "order_cancelled"
        case .orderFulfilled: "order_fulfilled"
        case .consumed: "consumed"
        case .tokenAssigned: "token_assigned"
        case .purchaseMoved: "purchase_moved"
        case .customerMerged: "customer_merged"
        case .customerErased: "customer_erased"
        case .grantAdded: "grant_added"
        case .revocationAdded: "revocation_added"
        case .actLifted: "act_lifted"
        case .testersChanged: "testers_changed"
        case .settings: "settings"
        case .bundleBound: "bundle_bound"
        case .keyCreated: "key_created"
        case .keyRevoked: "key_revoked"
        case .rules: "rules"
        case .recordContinued: "record_continued"
        case .orderClosed: "order_closed"
        case .notification: "notification"
        case .seatClaimed: "seat_claimed"
        case .seatUnclaimed: "seat_unclaimed"
        case .groundAdded: "ground_added"
        case .groundEnded: "ground_ended"
        case .consumptionConsent: "consumption_consent"
        case .consumptionAnswered: "consumption_answered"
        case .extensionRequested: "extension_requested"
        case .extensionAnswered: "extension_answered"
        case .offerSigned: "offer_signed"
        case .tokenSetAtApple: "token_set_at_apple"
        case .decision: "decision"
        case .refusals: "refusals"
        }
    }
}
