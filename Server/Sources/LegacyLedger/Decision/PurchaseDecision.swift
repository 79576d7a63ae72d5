public import PurchaseVerification

/// What is done about a claim.
public enum PurchaseDecision: Sendable, Equatable {
    /// Record and grant it.
    case accept(Acceptance)
    /// The same claim by the same owner was accepted before: the first answer again, and no second grant.
    case replay(RecordedPurchase)
    /// The same, but the App Store made the period longer since: until this time.
    case extend(RecordedPurchase, until: Timestamp)
    /// Grant nothing.
    case reject(Rejection)

    /// How many of a product one purchase can be of: beyond any, and so few that balances never overflow.
    public static let quantities: ClosedRange<Int64> = 1...1_000_000_000

    /// The one place that decides. It only looks at what it is given.
    ///
    /// Cheap and certain things come first: what the evidence says by itself, then what is recorded of the transaction, then
    /// the order. A purchase that the App Store took back is rejected whoever claims it, and a replay is answered before the
    /// state of its order is looked at, since its order is paid: by itself.
    public static func decide(_ claim: PurchaseClaim, _ proof: PurchaseProof, _ known: KnownFacts) -> PurchaseDecision {
        switch proof {
        case .refused(let error): return .reject(Rejection(error))
        case .unsuitable(let kind):
            return .reject(
                Rejection(
                    .evidenceNotAPurchase, expected: "an app receipt, a transaction receipt or a signed transaction",
                    found: kind.rawValue))
        case .verified(let purchases):
            guard !purchases.isEmpty else { return .reject(Rejection(.noPurchases)) }
            guard let purchase = purchases.claimed(claim.transactionID), purchase.hasIdentifiers else {
                return .reject(Rejection(.transactionNotFound, expected: claim.transactionID))
            }
            do throws(Rejection) {
                return try decide(claim, purchase, among: purchases, known)
            } catch {
                return .reject(error)
            }
        }
    }

    private static func decide(
        _ claim: PurchaseClaim, _ purchase: ProvenPurchase, among purchases: [ProvenPurchase], _ known: KnownFacts
    ) throws(Rejection) -> PurchaseDecision {
        try requireNotWithdrawn(purchase, known)
        let product = try product(claim, purchase, known)
        let owner = try owner(claim, known)
        if let recorded = known.recorded {
            guard recorded.customerID.isSame(as: owner),
                claim.orderID.map({ $0.isSame(as: recorded.orderID) }) ?? true
            else {
                throw Rejection(.alreadyClaimed)
            }
            // Only a period that is recorded has an end, and older evidence makes it no shorter.
            // Receipts tell it in whole seconds, signed transactions in milliseconds.
            if let recordedEnd = recorded.expiresAt, let end = purchase.expiresDate,
                end.millisecondsSince1970 / 1000 > recordedEnd.millisecondsSince1970 / 1000
            {
                return .extend(recorded, until: end)
            }
            return .replay(recorded)
        }
        let movedFrom = try previousOwner(claim, product, owner, known)
        try requireNotExpired(purchase, among: purchases, product, known)
        let order = try order(claim, purchase, product, owner, known)
        return .accept(
            Acceptance(
                purchase: purchase, environment: known.recordedEnvironment ?? purchase.environment, product: product,
                owner: owner, orderID: order?.id,
                kind: kind(product, known), movedFrom: movedFrom))
    }

    /// A refund or revocation is final: neither this evidence nor an older one grants what was taken back.
    private static func requireNotWithdrawn(_ purchase: ProvenPurchase, _ known: KnownFacts) throws(Rejection) {
        if let withdrawal = purchase.withdrawal {
            let code: DecisionCode =
                switch withdrawal.kind {
                case .cancelled: .purchaseCancelled
                case .revoked: .purchaseRevoked
                case .upgraded: .purchaseUpgraded
                }
            throw Rejection(code, found: "\(withdrawal.date)")
        }
        if let withdrawnAt = known.withdrawnAt { throw Rejection(.purchaseWithdrawn, found: "\(withdrawnAt)") }
        let recorded = [known.recorded].compactMap(\.self) + known.copies
        if let withdrawn = recorded.first(where: { $0.state == .withdrawn }) {
            throw Rejection(.purchaseWithdrawn, found: withdrawn.withdrawnAt.map { "\($0)" })
        }
    }

    /// Paid time that has ended grants nothing.
    private static func requireNotExpired(
        _ purchase: ProvenPurchase, among purchases: [ProvenPurchase], _ product: RegisteredProduct,
        _ known: KnownFacts
    ) throws(Rejection) {
        let end: Timestamp?
        switch product.kind {
        case .consumable, .nonConsumable: return
        // Without an end it would never end, so evidence without one proves no period.
        case .autoRenewable: end = purchase.expiresDate
        case .nonRenewing:
            let pass = PaidTime(purchase, product)
            // Others of his that the same evidence proves count as well, since it is chance which of them is claimed first.
            let others = purchases.filter {
                $0.productID.isSame(as: purchase.productID) && $0.withdrawal == nil
                    && !known.unusable.contains($0.originalTransactionID)
                    && !$0.originalTransactionID.isSame(as: purchase.originalTransactionID)
            }
            let held = known.held.map(PaidTime.init) + others.map { PaidTime($0, product) }
            let (before, after) = (PaidTime.end(of: held), PaidTime.end(of: held + [pass]))
            // It may stand before others that are known already, and put them off. One that was over before they began does not,
            // and is worth nothing any more. A copy never does.
            let isCopy = known.held.contains { $0.originalTransactionID.isSame(as: pass.original) }
            end = isCopy || before != after ? after : PaidTime.end(of: [pass]).map { min($0, known.now) }
        }
        guard end.map({ $0 <= known.now }) ?? true else { return }
        throw Rejection(.subscriptionExpired, expected: "an end after \(known.now)", found: end.map { "\($0)" })
    }

    private static func product(
        _ claim: PurchaseClaim, _ purchase: ProvenPurchase, _ known: KnownFacts
    ) throws(Rejection) -> RegisteredProduct {
        guard purchase.productID.isSame(as: claim.productID) else {
            throw Rejection(.productMismatch, expected: claim.productID, found: purchase.productID)
        }
        guard let product = known.app.product(of: purchase) else {
            throw Rejection(.productUnknown, found: purchase.productID)
        }
        guard quantities.contains(purchase.quantity), claim.quantity == nil || claim.quantity == purchase.quantity
        else {
            throw Rejection(
                .quantityMismatch, expected: claim.quantity.map { "\($0)" } ?? "a quantity in \(quantities)",
                found: "\(purchase.quantity)")
        }
        return product
    }

    private static func owner(_ claim: PurchaseClaim, _ known: KnownFacts) throws(Rejection) -> String {
        guard let orderID = claim.orderID else {
            // A claim names an order or a customer; one with neither was refused before it came here.
            guard let customerID = claim.customerID else {
                throw Rejection(.fieldMissing, expected: "order_id or customer_id")
            }
            return customerID
        }
        guard let order = known.order else { throw Rejection(.orderUnknown, expected: orderID) }
        guard claim.customerID.map({ $0.isSame(as: order.customerID) }) ?? true else {
            throw Rejection(.orderOfAnotherCustomer)
        }
        return order.customerID
    }

    /// From whom the purchase moves; `nil` if it belongs to nobody yet, or to the one who claims it.
    private static func previousOwner(
        _ claim: PurchaseClaim, _ product: RegisteredProduct, _ owner: String, _ known: KnownFacts
    ) throws(Rejection) -> String? {
        // A copy was paid for once. It pays no order, and a consumable is not granted again.
        if !known.copies.isEmpty, claim.orderID != nil || product.kind == .consumable {
            throw Rejection(.alreadyClaimed)
        }
        guard let originalOwner = known.originalOwner, !originalOwner.isSame(as: owner) else { return nil }
        // The App Store restores neither consumables nor non-renewing subscriptions, so nobody else can have come by them.
        guard known.app.transfer == .move, product.kind == .nonConsumable || product.kind == .autoRenewable else {
            throw Rejection(.alreadyClaimed)
        }
        return originalOwner
    }

    /// The order that the purchase pays: the one that is claimed, or the one that its token names.
    private static func order(
        _ claim: PurchaseClaim, _ purchase: ProvenPurchase, _ product: RegisteredProduct, _ owner: String,
        _ known: KnownFacts
    ) throws(Rejection) -> Order? {
        let isPaid = isPaid(purchase, product)
        guard claim.orderID != nil, let order = known.order else {
            guard let order = known.tokenOrder else { return nil }
            let isOwn = order.customerID.isSame(as: owner)
            // What moved carries the token of its former owner, and so does every renewal. Who owns it was looked at already.
            guard isOwn || known.originalOwner != nil else { throw Rejection(.appAccountTokenMismatch) }
            return isPaid && pays(purchase, order, known) && isOwn ? order : nil
        }
        if let token = purchase.appAccountToken, token.lowercased() != order.appAccountToken.lowercased() {
            throw Rejection(.appAccountTokenMismatch, found: token)
        }
        guard order.productID.isSame(as: purchase.productID) else {
            throw Rejection(.productMismatch, expected: order.productID, found: purchase.productID)
        }
        guard order.quantity == purchase.quantity else {
            throw Rejection(.quantityMismatch, expected: "\(order.quantity)", found: "\(purchase.quantity)")
        }
        guard isPaid else { throw Rejection(.purchaseNotPaid) }
        switch order.status(at: known.now) {
        case .created: return order
        case .paid, .fulfilled: throw Rejection(.orderAlreadyPaid)
        case .expired: throw Rejection(.orderExpired, found: "\(order.expiresAt)")
        case .cancelled: throw Rejection(.orderCancelled)
        case .refunded: throw Rejection(.orderRefunded)
        }
    }

    /// Whether somebody paid for this transaction. What is restored has a transaction of its own; of subscriptions a renewal has,
    /// too, and that was paid.
    private static func isPaid(_ purchase: ProvenPurchase, _ product: RegisteredProduct) -> Bool {
        let isRestored =
            product.kind == .nonConsumable && !purchase.transactionID.isSame(as: purchase.originalTransactionID)
        return !purchase.isFamilyShared && !isRestored
    }

    private static func pays(_ purchase: ProvenPurchase, _ order: Order, _ known: KnownFacts) -> Bool {
        known.copies.isEmpty && order.status(at: known.now) == .created
            && order.productID.isSame(as: purchase.productID) && order.quantity == purchase.quantity
    }

    private static func kind(_ product: RegisteredProduct, _ known: KnownFacts) -> AcceptanceKind {
        guard known.originalOwner != nil else { return .bought }
        return product.kind == .autoRenewable && known.copies.isEmpty ? .renewed : .restored
    }
}

/// What is to be recorded and granted.
public struct Acceptance: Sendable, Equatable {
    public var purchase: ProvenPurchase
    /// Where it counts as made: where its original transaction is recorded.
    public var environment: AppStoreEnvironment
    public var product: RegisteredProduct
    /// The customer who owns it from now on.
    public var owner: String
    /// The order that it pays.
    public var orderID: String?
    public var kind: AcceptanceKind
    /// The customer who owned the original transaction until now.
    public var movedFrom: String?
}

/// Why nothing is granted.
public struct Rejection: Error, Sendable, Equatable {
    /// Whose code it is.
    public var reason: Reason
    /// What was asked for.
    public var expected: String?
    /// What was found instead.
    public var found: String?

    /// A code of the ledger, or of the core.
    public enum Reason: Sendable, Equatable {
        case decision(DecisionCode)
        case verification(ReasonCode)
    }

    /// A rejection by the ledger.
    public init(_ code: DecisionCode, expected: String? = nil, found: String? = nil) {
        reason = .decision(code)
        self.expected = expected
        self.found = found
    }

    /// A rejection by the core.
    public init(_ error: VerificationError) {
        reason = .verification(error.code)
        expected = error.expected
        found = error.found
    }

    /// The stable code.
    public var code: String {
        switch reason {
        case .decision(let code): code.rawValue
        case .verification(let code): code.rawValue
        }
    }

    /// The HTTP status of the answer.
    public var status: Int {
        switch reason {
        case .decision(let code): code.status
        case .verification: 422
        }
    }

    /// The sentence for people.
    public var sentence: String {
        switch reason {
        case .decision(let code): code.sentence
        case .verification(let code): code.sentence
        }
    }
}

extension [ProvenPurchase] {
    /// The purchase of a transaction. If a receipt lists it twice, the entry that was taken back is the newer one.
    func claimed(_ transactionID: String) -> ProvenPurchase? {
        let matches = filter { $0.transactionID.isSame(as: transactionID) }
        return matches.first { $0.withdrawal != nil } ?? matches.first
    }
}
