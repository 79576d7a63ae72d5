/// Why another system's answer differs from the ledger's (docs/compare.md, "Causes"). The raw value is part of answers
/// and never changes.
public enum ComparisonCause: String, Sendable, CaseIterable {
    // They give access, and the ledger does not.
    case refundMissed = "refund_missed"
    case familyRevokeMissed = "family_revoke_missed"
    case expiryMissed = "expiry_missed"
    case retryCounted = "retry_counted"
    case upgradeMissed = "upgrade_missed"
    case sandboxCounted = "sandbox_counted"
    case ownedByAnother = "owned_by_another"
    case unitsConsumed = "units_consumed"
    case notStarted = "not_started"
    case seatCounted = "seat_counted"
    case revokedByHand = "revoked_by_hand"
    case customerUnknown = "customer_unknown"
    case purchaseNotSeen = "purchase_not_seen"
    case purchaseHeld = "purchase_held"
    case newsMissing = "news_missing"
    case periodUnknown = "period_unknown"
    case productUnknown = "product_unknown"
    case productKindMismatch = "product_kind_mismatch"

    // The ledger gives access, and they do not.
    case renewalMissed = "renewal_missed"
    case graceMissed = "grace_missed"
    case reversalMissed = "reversal_missed"
    case transferMissed = "transfer_missed"
    case purchaseMissed = "purchase_missed"
    case grantedByHand = "granted_by_hand"
    case accessAssumed = "access_assumed"

    // Both give access, or not at the same time.
    case extensionMissed = "extension_missed"
    case untilDiffers = "until_differs"

    /// Who is right.
    public enum Right: String, Sendable, CaseIterable {
        /// The ledger is, by what the App Store signed or an operator did.
        case ours
        /// What is recorded does not decide it.
        case open
    }

    public var right: Right {
        switch self {
        case .customerUnknown, .purchaseNotSeen, .purchaseHeld, .newsMissing, .periodUnknown, .productUnknown,
            .productKindMismatch, .accessAssumed, .untilDiffers:
            .open
        default: .ours
        }
    }
}
