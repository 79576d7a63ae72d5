package import PurchaseVerification

/// What is known about a claimed purchase; `nil` is not known yet.
package struct ClaimSituation {
    /// The owner, with this claim.
    package var owner: ClaimedOwner?
    package var purchase: ClaimedPurchase?
    /// The owner's entitlement to the product, known with the purchase; `nil` if there is none.
    package var entitlement: Entitlement?
    /// The terms of the order.
    package var order: OrderTerms?

    package init() {}
}

/// A claim of one transaction, with the statement of its own evidence about it.
package struct ClaimStatement {
    /// The fields of the claim; none if every purchase of the evidence is claimed.
    package var claim: ClaimFields
    package let proven: ObservedTransaction
    package let source: EvidenceSource
    package let app: RegisteredApp
    /// The claimant.
    package let customer: Int64
    /// The account token in the claim's evidence, or the one that the App Store stated.
    package var token: AppAccountToken?
    /// The customer of that token; `nil` if it is not known.
    package var tokenOwner: Int64?
    /// The guest from whom it takes the purchase over, whose token does not prevent binding.
    package var guest: Int64?
    /// Whether the transaction belonged to an erased customer.
    package var isErased = false

    package init(
        _ claim: ClaimFields = ClaimFields(), of proven: ObservedTransaction, _ source: EvidenceSource,
        by customer: Int64, _ app: RegisteredApp
    ) {
        (self.claim, self.proven, self.source, self.customer, self.app) = (claim, proven, source, customer, app)
    }

    /// Whether a claim with such evidence affects the owner, whatever its outcome: an expired, withdrawn or sandbox
    /// purchase still belongs to somebody.
    ///
    /// A token of another customer prevents binding and refuses nothing: the purchase may have been transferred to the
    /// claimant, and still carries its former owner's token. An unknown token counts as absent. With
    /// `require_signed_transaction`, claims with receipts do not bind, and with `require_account_token`, claims without
    /// a token of the customer.
    package var binds: Bool {
        guard isOfToken, !app.requiresAccountToken || tokenOwner == customer else { return false }
        return !app.requiresSignedTransaction || source == .signedData || token != nil
    }

    /// Whether the account token in the evidence lets the claim bind.
    package var isOfToken: Bool { tokenOwner.map { $0 == customer || $0 == guest } ?? true }
}

/// The fields of a claim, as far as the request could be read.
public struct ClaimFields: Sendable, Equatable {
    public var productID: String?
    public var transactionID: String?
    public var orderID: String?
    public var customerID: String?
    public var quantity: Int64?
    /// Whether the app says that the customer is a guest (`GuestID`).
    public var isGuest = false

    /// A claim without fields.
    public init() {}

    /// Checks the fields that a claim needs.
    ///
    /// - Throws: `field_missing`, `field_malformed`.
    package func requireComplete(hasEvidence: Bool) throws(Rejection) {
        guard hasEvidence else {
            throw Rejection(.fieldMissing, expected: "receipt_data or signed_transaction")
        }
        try Self.require("product_id", productID)
        try Self.require("transaction_id", transactionID)
        if let orderID { try Self.require("order_id", orderID) }
        if let customerID { try Self.require("customer_id", customerID) }
        guard orderID != nil || customerID != nil else {
            throw Rejection(.fieldMissing, expected: "order_id or customer_id")
        }
        if let quantity, quantity < 1 {
            throw Rejection(.fieldMalformed, expected: "a quantity from 1", found: "\(quantity)")
        }
    }

    private static func require(_ name: String, _ value: String?) throws(Rejection) {
        guard let value, !value.utf8.isEmpty else { throw Rejection(.fieldMissing, expected: name) }
        guard ExactText(value).isIdentifier else {
            throw Rejection(
                .fieldMalformed,
                expected: "\(name) of at most \(ExactText.identifierBytes) bytes without control characters")
        }
    }
}

/// The state of a claimed purchase at one time, for its owner.
struct ClaimStanding {
    let purchase: ClaimedPurchase
    /// The statement of the claim's own evidence.
    let proven: ObservedTransaction
    let app: RegisteredApp
    /// The owner's entitlement to the product.
    var entitlement: Entitlement?
    let now: Timestamp

    /// Whether the purchase is a period that is over, and that no grace period prolongs.
    var isOver: Bool {
        guard purchase.kind == .autoRenewable, !beginsLater, let end = purchase.facts.end, end <= now else {
            return false
        }
        return entitlement?.transactionID != purchase.facts.key.transactionID.string
    }

    /// Why the owner has no access to the product although the purchase was paid for. A purchase that begins later
    /// already belongs to the customer.
    var reason: NoAccessReason? {
        guard let kind = purchase.kind, kind != .consumable, !beginsLater else { return nil }
        switch entitlement?.reason {
        case .inGrace, .notStarted: return nil
        case let reason: return reason
        }
    }

    /// Whether it is a period that begins later. The App Store charges up to a day before a period begins.
    private var beginsLater: Bool {
        guard purchase.kind == .autoRenewable, let start = purchase.facts.purchaseDate else { return false }
        return now < start && (purchase.facts.end.map { start < $0 } ?? false)
    }

    /// The conflict of a period that ended.
    func expired(_ end: Timestamp?) -> ClaimRule<ClaimStanding>.Conflict {
        .init(expected: "an end after \(now)", found: end.map { "\($0)" })
    }
}

/// The evidence of a claim, as far as the rules need it.
package struct ClaimedEvidence {
    /// The kind, if it could be recognised.
    package var kind: EvidenceKind?
    /// Why it did not verify.
    package var failure: VerificationError?
    /// Why the app's settings do not accept it.
    package var objection: VerificationError?
    /// The purchases that it proves and that are claimed.
    package var proven: [ObservedTransaction] = []
    /// Whether it states any transaction.
    package var statesTransactions = false
    /// Whether it is a receipt without purchases.
    package var isEmptyReceipt = false
    /// The transaction that the claim names; `nil` if every purchase is claimed.
    package var transactionID: String?

    package init(
        kind: EvidenceKind?, objection: VerificationError? = nil, isEmptyReceipt: Bool = false,
        transactionID: String? = nil
    ) {
        (self.kind, self.objection) = (kind, objection)
        (self.isEmptyReceipt, self.transactionID) = (isEmptyReceipt, transactionID)
    }

    /// Whether it proves what can be claimed at all: a transaction or, if every purchase is claimed, one with a
    /// product.
    package var provesTransactions: Bool { transactionID == nil ? !proven.isEmpty : statesTransactions }
}

/// The facts of the claimed purchase that the decision needs.
package struct ClaimedPurchase: Sendable {
    /// All facts, including those of the claim's evidence.
    package var facts: ObservedTransaction
    /// The kind in the settings, if they agree with the facts.
    package var kind: ProductKind?
    /// The withdrawal of the purchase under any of its transaction ids.
    package var withdrawal: Withdrawal?
    /// Whether an operator revoked it.
    package var isRevokedByHand = false
    /// The earliest transaction of the same purchase, if this one is a copy.
    package var earliest: ObservedTransaction?
    /// Whether it was bought after an earlier purchase of the same original was withdrawn.
    package var isRepurchase = false
    /// Whether it has paid the named order, under any of its transaction ids.
    package var hasPaidOrder = false
    /// Whether it has paid an order other than the named one, and keeps it.
    package var hasPaidAnotherOrder = false

    package init(_ facts: ObservedTransaction, kind: ProductKind?, withdrawal: Withdrawal?) {
        (self.facts, self.kind, self.withdrawal) = (facts, kind, withdrawal)
    }

    var isCopy: Bool { earliest != nil }

    /// The facts of what was paid for: a copy can be younger than the purchase.
    package var paid: ObservedTransaction { earliest ?? facts }

    /// Whether the customer paid for it. A restored non-consumable has a new id and is not paid for; a renewal of a
    /// subscription has a new id and is, and so is a non-consumable that was bought again after a refund. Members of
    /// families and groups pay nothing.
    var isPaidFor: Bool {
        let isRestored =
            kind == .nonConsumable && !isRepurchase && paid.key.transactionID != paid.original.transactionID
        return paid.ownership.holder == .buyer && !isRestored
    }

    /// Whether the App Store renewed the subscription by itself. Signed data says so; a receipt does not, so there it
    /// is a period of the same product after an earlier one.
    ///
    /// - Parameter others: the known transactions of the same original.
    package func isAutomaticRenewal(among others: [ObservedTransaction]) -> Bool {
        guard kind == .autoRenewable else { return false }
        if let reason = paid.reason { return reason == ExactText("RENEWAL") }
        return others.contains { other in
            guard other.productID == paid.productID, let start = paid.purchaseDate, let end = other.end,
                let earlier = other.purchaseDate
            else { return false }
            return earlier < start && (paid.end.map { end < $0 } ?? false)
        }
    }
    /// Whether its owner has it: neither Apple nor an operator withdrew it.
    package var isHad: Bool { wholeWithdrawal == nil && !isRevokedByHand }

    /// The withdrawal, if it withdraws the whole purchase. Any part withdraws an indivisible purchase.
    package var wholeWithdrawal: Withdrawal? {
        guard let withdrawal else { return nil }
        let isWhole =
            switch kind {
            case .consumable, .nonRenewing: withdrawal.units >= facts.quantity
            case .nonConsumable, .autoRenewable, nil: withdrawal.units > 0
            }
        return isWhole ? withdrawal : nil
    }
}

/// The owner of a claimed transaction.
package struct ClaimedOwner {
    /// The claimant.
    package let customer: Int64
    /// The owner of the transaction, with this claim.
    package var owner: Int64?
    /// The customer of the account token of the facts; `nil` if it is not known.
    package var tokenOwner: Int64?
    /// Whether it belongs to another customer, who was erased.
    package var isOfErasedCustomer = false
    package let facts: ObservedTransaction
    package let app: RegisteredApp

    package init(_ owner: Int64?, of facts: ObservedTransaction, claimedBy customer: Int64, _ app: RegisteredApp) {
        (self.owner, self.facts, self.customer, self.app) = (owner, facts, customer, app)
    }
}

/// What became of the customer and the order that a claim names.
package struct NamedParties {
    /// The order that the claim names.
    package var orderID: String?
    /// Whether the order belongs to another customer than the one that the claim names.
    package var isOrderOfAnother = false
    /// Whether the claim has a customer, named or by its order.
    package var hasCustomer: Bool

    package init(orderID: String?, isOrderOfAnother: Bool, hasCustomer: Bool) {
        (self.orderID, self.isOrderOfAnother, self.hasCustomer) = (orderID, isOrderOfAnother, hasCustomer)
    }
}

/// An order, and a purchase that is to pay it.
struct OrderMatch {
    let terms: OrderTerms
    let purchase: ClaimedPurchase

    var facts: ObservedTransaction { purchase.paid }
    /// Whether no purchase has paid the order yet.
    var isUnpaid: Bool { terms.status == .created || terms.status == .expired }
    /// Whether another purchase has paid it.
    var isPaidByAnother: Bool { [.paid, .fulfilled, .closed].contains(terms.status) && !purchase.hasPaidOrder }
}

/// The facts of an order that the decision needs.
package struct OrderTerms: Sendable, Equatable {
    package var productID: ExactText
    package var quantity: Int64
    /// The environments whose purchases pay it.
    package var environments: [AppStoreEnvironment]
    /// Whether an automatic renewal pays it, although no claim names it.
    package var acceptsRenewal = false
    /// The account token that its customer had when it was created.
    package var token: AppAccountToken?
    package var createdAt: Timestamp
    package var expiresAt: Timestamp
    /// The recorded state, which is never `expired`.
    package var status: OrderStatus

    package init(
        _ productID: ExactText, quantity: Int64, environments: [AppStoreEnvironment], from createdAt: Timestamp,
        to expiresAt: Timestamp, status: OrderStatus
    ) {
        (self.productID, self.quantity, self.environments) = (productID, quantity, environments)
        (self.createdAt, self.expiresAt, self.status) = (createdAt, expiresAt, status)
    }

    /// The tolerance for a purchase that is dated before its order, because the clocks of Apple and the server differ.
    package static let clockSkew: Int64 = 300_000

    /// Whether a purchase whose claim names no order pays it. Nobody asked for an automatic renewal, so it leaves an
    /// order open that waits for something to be bought.
    package func isPaidUnnamed(by purchase: ClaimedPurchase, isRenewal: Bool) -> Bool {
        (acceptsRenewal || !isRenewal) && isPaid(by: purchase)
    }

    /// Whether a purchase pays it.
    func isPaid(by purchase: ClaimedPurchase) -> Bool {
        ClaimRules.order.refusal(of: OrderMatch(terms: self, purchase: purchase)) == nil
    }

    /// The environments for people.
    var expectedEnvironments: String {
        environments.isEmpty
            ? "a purchase that counts for the customer (sandbox_access)"
            : environments.map(\.name).joined(separator: " or ")
    }

    /// Whether a purchase at a time was made during the life of the order.
    package func contains(_ date: Timestamp) -> Bool {
        Self.contains(date, from: createdAt, to: expiresAt)
    }

    /// Whether a purchase at a time was made during the life of an order.
    package static func contains(_ date: Timestamp, from createdAt: Timestamp, to expiresAt: Timestamp) -> Bool {
        createdAt.millisecondsSince1970 - clockSkew <= date.millisecondsSince1970 && date < expiresAt
    }
}
