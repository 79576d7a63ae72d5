public import PurchaseVerification

/// The rule of the ledger that decided an answer (docs/compare.md, "Rules").
public enum ComparisonRule: Sendable, Hashable, CustomStringConvertible {
    /// A row of the state table of subscriptions.
    case state(row: Int)
    /// A period of another product ends the earlier one.
    case superseded
    /// A step of the order of precedence of owners.
    case own(step: Int)
    /// The rule of a kind of product.
    case kind(ProductKind)
    /// Grants and revocations by operators, and grounds of other shops.
    case byHand
    /// The list of seats of a subscription.
    case seats
    /// The setting `sandbox_access`.
    case sandboxAccess
    /// The products and entitlements of the settings.
    case settings
    /// Nothing is recorded that a rule could apply to.
    case nothingRecorded

    public var description: String {
        switch self {
        case .state(let row): "state_\(row)"
        case .superseded: "state_superseded"
        case .own(let step): "own_\(step)"
        case .kind(let kind): "kind_\(kind.rawValue)"
        case .byHand: "by_hand"
        case .seats: "seats"
        case .sandboxAccess: "sandbox_access"
        case .settings: "settings"
        case .nothingRecorded: "nothing_recorded"
        }
    }
}

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

/// What another system says about a customer: that they have a product or a named entitlement, until some time, or that
/// they do not.
public struct ForeignAnswer: Sendable, Equatable {
    public var customerID: String
    public var subject: Subject
    /// Whether the customer has access; `nil` if only the end says so.
    public var isActive: Bool?
    public var end: End
    /// The environment that the answer is about; `nil` for every purchase that counts for the customer.
    public var environment: AppStoreEnvironment?
    /// The time at which it was given; `nil` for now.
    public var moment: Timestamp?
    /// The transaction, or original transaction, on which it rests.
    public var transactionID: String?

    /// What the customer has or has not.
    public enum Subject: Sendable, Equatable {
        case product(String)
        /// A named entitlement of the settings.
        case entitlement(String)

        /// Its name.
        public var name: String {
            switch self {
            case .product(let name), .entitlement(let name): name
            }
        }
    }

    /// The end of the access.
    public enum End: Sendable, Equatable {
        case unstated
        case unlimited
        case at(Timestamp)
    }

    /// An answer.
    public init(customerID: String, _ subject: Subject, isActive: Bool?, end: End = .unstated) {
        (self.customerID, self.subject, self.isActive, self.end) = (customerID, subject, isActive, end)
    }

    /// Whether it gives access at a time. A table with a column for the end alone has rows that ended long ago.
    public func isActive(at moment: Timestamp) -> Bool {
        guard isActive ?? (end != .unstated) else { return false }
        guard case .at(let end) = end else { return true }
        return moment < end
    }
}
