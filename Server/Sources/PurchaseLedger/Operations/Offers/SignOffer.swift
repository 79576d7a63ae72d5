public import PurchaseVerification

public import struct Foundation.UUID

/// Records that an offer is signed for a customer, if the settings allow it. The signature is made afterwards, over the
/// recorded nonce.
public struct SignOffer: LedgerOperation {
    /// The largest number of signatures that a limit of the settings counts.
    static let mostCounted: Int64 = 10_000

    public var app: String
    public var customerID: String
    public var kind: OfferKind
    /// The offer in App Store Connect; only for promotional offers.
    public var offerID: String?
    public var productID: String?
    public var transactionID: String?
    public var allowsIntroductory: Bool?
    /// The SHA-256 of the request; only for Advanced Commerce.
    public var requestSHA256: [UInt8]?

    /// An offer for a customer.
    public init(
        app: String, customerID: String, kind: OfferKind, offerID: String? = nil, productID: String? = nil,
        transactionID: String? = nil, allowsIntroductory: Bool? = nil, requestSHA256: [UInt8]? = nil
    ) {
        self.app = app
        self.customerID = customerID
        self.kind = kind
        self.offerID = offerID
        self.productID = productID
        self.transactionID = transactionID
        self.allowsIntroductory = allowsIntroductory
        self.requestSHA256 = requestSHA256
    }

    /// What is signed besides the fields of the request.
    public struct Outcome: Sendable, Equatable {
        public var entryID: UUID
        /// New for each signature.
        public var nonce: UUID
        public var signedAt: Timestamp
        /// The customer into whom the named one was merged; `nil` if they were not.
        public var mergedInto: String?
    }

    public var locks: LedgerLocks { .parts([.customer(customerID)]) }

    /// - Throws: `field_malformed`, `offer_unknown`, `offer_not_for_product`, `offer_not_for_customer`,
    ///   `offer_exhausted`.
    public func perform(_ transaction: LedgerTransaction) throws -> Outcome {
        let app = try transaction.app(app)
        for (name, text) in [
            ("customer_id", customerID), ("offer_id", offerID), ("product_id", productID),
            ("transaction_id", transactionID),
        ] {
            // U+2063 separates the fields of a signature of the first version, so in a field it would forge another.
            guard text.map({ ExactText($0).isIdentifier && !$0.unicodeScalars.contains("\u{2063}") }) ?? true else {
                throw LedgerRefusal(.fieldMalformed, expected: name)
            }
        }
        let rule = app.settings.offers.rule(kind, offerID)
        let known = try transaction.customer(customerID, app)
        let table = OfferSignaturesTable(connection: transaction.connection)
        // Both forms of a promotional offer are the same offer.
        let isPromotional = kind == .promotional || kind == .promotionalV1
        let kinds: [OfferKind] = isPromotional ? [.promotional, .promotionalV1] : [kind]
        let signed = try known.map { customer throws(LedgerStorageError) in
            try table.times(offerID ?? "", kinds, of: customer.key, limit: Self.mostCounted)
        }
        let audience =
            rule?.audience == .everybody ? .everybody : try Self.audience(of: known, app, transaction)
        let decision = OfferDecision(
            rule, productID: productID, audience: audience, signed: signed ?? [], at: transaction.now)
        try Self.require(decision, self)
        let customer = try transaction.customerToWrite(customerID, app)
        let nonce = RandomID.next()
        var draft = transaction.draft(app)
        draft.customer = customer
        let entry = try transaction.journal.append(
            draft,
            OfferSignedDetails(
                customer: customerID, offerKind: kind.rawValue, offerID: offerID ?? "", productID: productID,
                transactionID: transactionID, nonce: nonce.text, allowsIntroductory: allowsIntroductory,
                requestSHA256: requestSHA256?.hexadecimal))
        try table.insert(offerID ?? "", kind, customer: customer.key, at: transaction.now, entry: entry.key)
        return Outcome(
            entryID: entry.id, nonce: nonce, signedAt: transaction.now, mergedInto: customer.survivor(of: customerID))
    }

    private static func require(_ decision: OfferDecision, _ offer: SignOffer) throws(LedgerRefusal) {
        switch decision {
        case .sign: return
        case .unknown: throw LedgerRefusal(.offerUnknown, found: offer.offerID ?? offer.kind.rawValue)
        case .otherProduct: throw LedgerRefusal(.offerNotForProduct, found: offer.productID)
        case .otherAudience(let audience): throw LedgerRefusal(.offerNotForCustomer, expected: audience.rawValue)
        case .exhausted(let limit): throw LedgerRefusal(.offerExhausted, expected: "at most \(limit)")
        }
    }

    /// What a customer is now, by their subscriptions in the app.
    private static func audience(
        of customer: CustomerRow?, _ app: RegistryApp, _ transaction: LedgerTransaction
    ) throws -> OfferAudience {
        guard let customer, let name = customer.name else { return .new }
        let subscriptions = try SubscriptionsOfCustomer(app: app.settings.id, customerID: name).answer(transaction)
            .subscriptions
        guard !subscriptions.isEmpty else { return .new }
        return subscriptions.contains { $0.entitlement.state == .active } ? .subscribers : .former
    }
}
