import PurchaseVerification

/// What the ledger knows about the customer and the subject of another system's answer.
package struct ComparisonSituation: Sendable {
    package var question: AccessQuestion
    package var isCustomerKnown = false
    /// Whether the settings have the product or the named entitlement.
    package var isSubjectKnown = false
    /// The entitlement of the ledger: the one that lasts longest, or would have.
    package var ours: Entitlement?
    /// One that is active in an environment that does not count for the answer.
    package var elsewhere: Entitlement?
    /// The purchases of the original on which the entitlement rests, in the order of their starts.
    package var purchases: [OwnedPurchase] = []
    /// The number of the customer.
    package var customer: CustomerNumber?
    /// The rule that gave the purchase its owner (`RecordedPurchase.ownerReason`).
    package var ownerReason: String?
    /// The purchase that the other system names.
    package var named: NamedPurchase?

    package init(question: AccessQuestion) { self.question = question }

    /// A purchase by its transaction.
    package struct NamedPurchase: Sendable {
        package var transaction: TransactionKey
        /// The owner; `nil` if it is held.
        package var owner: CustomerNumber?
        package var ownerReason: String?

        package init(transaction: TransactionKey, owner: CustomerNumber?, ownerReason: String?) {
            (self.transaction, self.owner, self.ownerReason) = (transaction, owner, ownerReason)
        }
    }
}

extension ComparisonRule {
    /// The step that gave a purchase its owner.
    package init(ownerReason: String?) {
        let step =
            switch ownerReason {
            case "account_token": 1
            case "inherited_token": 2
            case "claim": 3
            case "transfer", "operator_move": 5
            case "merge": 6
            default: 4
            }
        self = .own(step: step)
    }

    /// The rule that gave an entitlement its state.
    package init(_ entitlement: Entitlement) {
        if entitlement.reason == .sandboxNotAccepted {
            self = .sandboxAccess
        } else if entitlement.reason == .productUnknown || entitlement.reason == .productKindMismatch {
            self = .settings
        } else if entitlement.reason == .revokedByHand {
            self = .byHand
        } else if entitlement.reason == .noSeat || entitlement.reason == .seatUnclaimed {
            self = .seats
        } else if entitlement.productKind != .autoRenewable {
            let isGrant = entitlement.state == .active && entitlement.transactionID == nil
            self = isGrant && entitlement.productKind != .consumable ? .byHand : .kind(entitlement.productKind)
        } else if entitlement.isAssumed {
            self = .state(row: 10)
        } else {
            self =
                switch entitlement.reason {
                case .notStarted: .state(row: 1)
                case .familyRevoked: .state(row: 2)
                case .revoked, .cancelled: .state(row: 4)
                case .periodUnknown: .state(row: 5)
                case .upgraded: .state(row: 6)
                case .superseded: .superseded
                case .inGrace: .state(row: 8)
                case .billingRetry: .state(row: 9)
                case .newsMissing: .state(row: 11)
                case .expired: .state(row: 12)
                case .held, .ownedByAnother: .own(step: 4)
                case nil where entitlement.transactionID == nil: .byHand
                default: .state(row: 7)
                }
        }
    }
}
