import PurchaseAPI
public import PurchaseVerification

public import struct Foundation.UUID

/// Records that an offer is signed, if the settings allow it for the customer to whom Apple binds the signature. The
/// signature is made afterwards, over the recorded nonce.
public struct SignOffer: LedgerOperation {
    /// The largest number of signatures that a limit of the settings counts.
    static let mostCounted: Int64 = 10_000

    public var app: String
    public var customerID: String
    public var kind: OfferKind
    /// The offer in App Store Connect; only for promotional offers.
    public var offerID: String?
    public var productID: String?
    /// The transaction, or the download of the app, to which Apple binds the signature.
    public var transactionID: String?
    /// The account token to which Apple binds a signature of the first form.
    public var accountToken: UUID?
    public var allowsIntroductory: Bool?
    /// The SHA-256 of the request; only for Advanced Commerce.
    public var requestSHA256: [UInt8]?

    /// An offer for a customer.
    public init(
        app: String, customerID: String, kind: OfferKind, offerID: String? = nil, productID: String? = nil,
        transactionID: String? = nil, accountToken: UUID? = nil, allowsIntroductory: Bool? = nil,
        requestSHA256: [UInt8]? = nil
    ) {
        self.app = app
        self.customerID = customerID
        self.kind = kind
        self.offerID = offerID
        self.productID = productID
        self.transactionID = transactionID
        self.accountToken = accountToken
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
        let owners = try owners(app, transaction)
        let judged = owners.isEmpty ? [known].compactMap(\.self) : owners
        var signed: [Timestamp] = []
        for customer in judged {
            signed += try table.times(offerID ?? "", kinds, of: customer.key, limit: Self.mostCounted)
        }
        let audience =
            rule?.audience == .everybody ? .everybody : try Self.audience(of: judged, app, transaction)
        let decision = OfferDecision(
            rule, productID: productID, audience: audience, signed: signed, at: transaction.now)
        try Self.require(decision, self, audience)
        // It counts for whom it was judged.
        let other = owners.contains { $0.key == known?.key } ? nil : owners.first
        let customer = try other ?? transaction.customerToWrite(customerID, app)
        let nonce = RandomID.next()
        var draft = transaction.draft(app)
        draft.customer = customer
        let details = OfferSignedDetails(
            customer: other?.name ?? customerID, offerKind: kind.rawValue, offerID: offerID ?? "", productID: productID,
            transactionID: transactionID, nonce: nonce.text, allowsIntroductory: allowsIntroductory,
            requestSHA256: requestSHA256?.hexadecimal)
        let write = try transaction.append(draft, details)
        try details.run(write)
        return Outcome(
            entryID: write.entry.id, nonce: nonce, signedAt: transaction.now,
            mergedInto: known?.survivor(of: customerID))
    }

    /// The customers to whom Apple binds the signature, as far as they are known: the owner of the transaction or of
    /// the account token, or everybody who owns a purchase of the download. The named customer can be another account
    /// of the same person. An erased customer is not known.
    private func owners(
        _ app: RegistryApp, _ transaction: LedgerTransaction
    ) throws(LedgerStorageError) -> [CustomerRow] {
        var keys: [Int64] = []
        if let transactionID { keys = try transaction.transactions.owners(of: transactionID, appKey: app.key) }
        let tokens = AccountTokensTable(connection: transaction.connection)
        if let accountToken, let key = try tokens.customer(of: accountToken, appKey: app.key) { keys.append(key) }
        var owners: [CustomerRow] = []
        for key in keys {
            let owner = try transaction.customers.surviving(try transaction.customers.row(key))
            if owner.name != nil, !owners.contains(where: { $0.key == owner.key }) { owners.append(owner) }
        }
        try transaction.lock(customers: { Set(owners.map(\.key)) })
        return owners
    }

    private static func require(
        _ decision: OfferDecision, _ offer: SignOffer, _ found: OfferAudience
    ) throws(LedgerRefusal) {
        switch decision {
        case .sign: return
        case .unknown: throw LedgerRefusal(.offerUnknown, found: offer.offerID ?? offer.kind.rawValue)
        case .otherProduct: throw LedgerRefusal(.offerNotForProduct, found: offer.productID)
        case .otherAudience(let audience):
            throw LedgerRefusal(.offerNotForCustomer, expected: audience.rawValue, found: found.rawValue)
        case .exhausted(let limit): throw LedgerRefusal(.offerExhausted, expected: "at most \(limit)")
        }
    }

    /// What customers are now, by the subscriptions in the app of all of them.
    static func audience(
        of customers: [CustomerRow], _ app: RegistryApp, _ transaction: LedgerTransaction
    ) throws -> OfferAudience {
        let found = try customers.compactMap(\.name).compactMap { try transaction.customer($0, app) }
        return OfferAudience(of: try found.flatMap { try CustomerSubscription.all(of: $0, app, transaction) })
    }
}

extension OfferAudience {
    /// What a customer with these subscriptions is.
    init(of subscriptions: [CustomerSubscription]) {
        self = subscriptions.isEmpty ? .new : subscriptions.contains(where: \.isActive) ? .subscribers : .former
    }
}

/// `offer_signed`.
struct OfferSignedDetails: LedgerInput {
    static var kind: JournalKind { .offerSigned }
    var customer: String
    /// `OfferKind`.
    var offerKind: String
    /// The id of the offer; empty for the kinds without one.
    var offerID: String
    var productID: String?
    var transactionID: String?
    /// The nonce of the signature, by which a signature that was seen elsewhere is recognised.
    var nonce: String
    /// Whether the customer may have the introductory offer.
    var allowsIntroductory: Bool?
    /// The SHA-256 of the signed request of the Advanced Commerce API.
    var requestSHA256: String?

    func run(_ write: EntryWrite) throws {
        let customer = try write.existing(self.customer)
        guard let kind = OfferKind(rawValue: offerKind) else { return }
        try OfferSignaturesTable(connection: write.connection).insert(
            offerID, kind, customer: customer.key, at: write.transaction.now, entry: write.entry.key)
    }
}
