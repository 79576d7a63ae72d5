public import PurchaseVerification

/// An app as the settings describe it.
public struct RegisteredApp: Sendable, Equatable {
    /// The maximum length of a name, in bytes: a journal leaf stores its length in one byte.
    public static let nameBytes = 255

    /// The operator's name of the app. Keys, orders and purchases belong to it.
    public var id: String
    /// The bundle ids whose evidence is accepted.
    public var bundleIDs: Set<String>
    /// The App Store's number of the app ("Apple ID" in App Store Connect). If it is set, production receipts must name
    /// it.
    public var appleID: UInt64?
    /// The environments whose evidence is accepted. App Review sends sandbox receipts to production, so both are the
    /// default.
    public var environments: Set<AppStoreEnvironment> = [.production, .sandbox]
    /// The app versions whose receipts are accepted; empty means all.
    public var versions: Set<String> = []
    /// The products by id. If there are none, the evidence itself must state the kind of a product.
    public var products: [String: RegisteredProduct] = [:]
    /// The policy for a customer who claims another customer's purchase.
    public var transfer = TransferPolicy.deny
    /// Whether a restore that the customer asked for takes over the purchases of a guest.
    public var guestRestore = TransferPolicy.deny
    /// How long an order waits for its payment, in milliseconds.
    public var orderLifetime: Int64 = 86_400_000
    /// The customers for whom sandbox purchases count.
    public var sandboxAccess = SandboxAccess.testers
    /// Whether units that were consumed and then refunded are subtracted from the balance.
    public var refundShortfall = RefundShortfallPolicy.forgive
    /// How long a subscription stays active after its period while the news of its renewal are late, in milliseconds.
    public var lapseTolerance = RegisteredApp.defaultLapseTolerance
    /// Whether new purchases need signed transactions, so that a copied app receipt claims nothing.
    public var requiresSignedTransaction = false
    /// Whether new purchases need evidence with an account token of the customer, which app receipts do not have.
    public var requiresAccountToken = false
    /// Whether the App Store is asked about the receipts of claims.
    public var mode = AppStoreMode.offline
    /// Whether the app has a key of the App Store Server API, so that the App Store can be asked about signed data.
    public var hasAppStoreKey = false
    /// Whether the App Store gets the account token of the owner of a purchase that has none.
    public var setsAccountTokens = false
    /// The budget for unverified evidence that is stored whole.
    public var unverifiedEvidence = EvidenceBudget()

    /// What Apple is told about refund requests.
    public var refunds = RefundPolicies()
    /// The offers that are signed for customers.
    public var offers = OfferRules()

    /// Creates an app with the defaults.
    public init(id: String, bundleIDs: Set<String>) {
        self.id = id
        self.bundleIDs = bundleIDs
    }

    package static let defaultLapseTolerance: Int64 = 3_600_000

    /// Whether purchases of the app can be consumables. Without products in the settings, the evidence states the kind.
    public var sellsConsumables: Bool {
        products.isEmpty || products.values.contains { $0.kind == .consumable }
    }

    /// The product with an id, compared byte by byte.
    package func product(_ id: String) -> RegisteredProduct? {
        products.index(forKey: id).flatMap { products[$0].key.isSame(as: id) ? products[$0].value : nil }
    }

    /// The kind and duration with which a purchase counts; `nil` if its product is not registered, or registered with
    /// another kind.
    package func terms(of facts: ObservedTransaction) -> ProductTerms? {
        guard let productID = facts.productID?.string else { return nil }
        guard !products.isEmpty else {
            // Only the settings have the duration of a pass.
            guard let kind = facts.kind, kind != .nonRenewing else { return nil }
            return ProductTerms(kind: kind)
        }
        guard let product = product(productID), facts.kind == nil || facts.kind == product.kind else { return nil }
        guard product.kind == .nonRenewing else { return ProductTerms(kind: product.kind) }
        return product.duration.map { ProductTerms(kind: .nonRenewing, duration: $0) }
    }
}

/// The policy for a customer who claims another customer's purchase.
public enum TransferPolicy: String, Sendable, CaseIterable {
    /// It stays with its owner.
    case deny
    /// An auto-renewable subscription or a non-consumable is transferred to the claimant.
    case move
}

/// The treatment of units of a consumable that were used before Apple refunded them (setting `refund_shortfall`).
public enum RefundShortfallPolicy: String, Sendable, CaseIterable {
    /// The shortfall is reported and changes no balance.
    case forgive
    /// The shortfall is subtracted from the balance, never below 0.
    case debt
}

/// The customers for whom unpaid purchases count (setting `sandbox_access`). The current setting is applied to each
/// answer.
public enum SandboxAccess: String, Sendable, CaseIterable {
    /// For customers on the list of testers.
    case testers
    case everyone
    case nobody

    /// Whether purchases of an environment count for a customer, if the query names no environment.
    public func counts(_ environment: AppStoreEnvironment, isTester: Bool) -> Bool {
        guard environment != .production else { return true }
        return switch self {
        case .testers: isTester
        case .everyone: true
        case .nobody: false
        }
    }
}

/// Whether the App Store is asked about the receipts of claims (docs/ask-apple.md, "How the server uses it").
public enum AppStoreMode: String, Sendable, CaseIterable {
    /// It is not asked.
    case offline
    /// A purchase without an owner is granted after the App Store's answer.
    case apple
    /// A purchase is granted at once, and the App Store is asked in the background.
    case both
}

/// The policies of an app for refund requests.
public struct RefundPolicies: Sendable, Hashable {
    /// The policy for products without one of their own.
    public var others = RefundPolicy()
    /// The policies by product id.
    public var products: [String: RefundPolicy] = [:]

    public init() {}

    /// The policy for a product; its id is compared byte by byte.
    public func policy(for productID: String?) -> RefundPolicy {
        guard let productID, let place = products.index(forKey: productID), products[place].key.isSame(as: productID)
        else { return others }
        return products[place].value
    }
}

/// What an app says about the refund requests for a product.
public struct RefundPolicy: Sendable, Hashable {
    /// Whether Apple's question about a request is answered at all.
    public var answers = true
    /// The preference for a purchase that was not delivered.
    public var undelivered = PreferredRefund.none
    /// The preference for a consumable of which no unit was used.
    public var unused = PreferredRefund.none
    public var partlyUsed = PreferredRefund.none
    public var used = PreferredRefund.none
    /// The preference for a delivered purchase whose use is not measured: everything but consumables.
    public var unmeasured = PreferredRefund.none
    /// Whether the customer could try a part of it before buying it.
    public var providesSample = false

    /// The policy that answers without a preference.
    public init() {}
}

/// The outcome of a customer's refund request that an app prefers (Apple, "refundPreference").
public enum PreferredRefund: String, Sendable, CaseIterable, Codable {
    /// The app states no preference.
    case none
    case decline
    case grantFull = "grant_full"
    /// The unused part. For auto-renewable subscriptions Apple computes it.
    case grantProrated = "grant_prorated"
}

/// The offers of an app. What is not named is not signed.
public struct OfferRules: Sendable, Hashable {
    /// The promotional offers by their ids in App Store Connect.
    public var promotional: [String: OfferRule] = [:]
    /// For whom introductory offers are signed; `nil` for nobody.
    public var introductory: OfferRule?
    /// For whom requests of the Advanced Commerce API are signed; `nil` for nobody.
    public var advancedCommerce: OfferRule?

    public init() {}

    /// The rule of an offer; its id is compared byte by byte.
    package func rule(_ kind: OfferKind, _ offerID: String?) -> OfferRule? {
        switch kind {
        case .promotional, .promotionalV1:
            guard let offerID, let place = promotional.index(forKey: offerID),
                promotional[place].key.isSame(as: offerID)
            else { return nil }
            return promotional[place].value
        case .introductoryEligibility: return introductory
        case .advancedCommerce: return advancedCommerce
        }
    }
}

/// Who may have an offer, and how often.
public struct OfferRule: Sendable, Hashable {
    /// The products of the offer; empty for all.
    public var products: Set<String> = []
    public var audience = OfferAudience.everybody
    /// How often one customer gets it; `nil` for no limit.
    public var limit: Int64?
    /// The time in which the limit counts, in milliseconds; `nil` for ever.
    public var within: Int64?

    /// The rule that gives an offer to everybody.
    public init() {}
}

/// The kinds of offers that a server signs.
public enum OfferKind: String, Sendable, CaseIterable {
    /// A promotional offer in the first form: an ECDSA signature beside its parts.
    case promotionalV1 = "promotional_v1"
    /// A promotional offer as a JSON Web Signature.
    case promotional
    /// The statement whether a customer may have an introductory offer.
    case introductoryEligibility = "introductory_eligibility"
    /// A request of the Advanced Commerce API, which the app passes to StoreKit.
    case advancedCommerce = "advanced_commerce"
}

/// The customers who may have an offer, by their subscriptions in the app.
public enum OfferAudience: String, Sendable, CaseIterable {
    case everybody
    /// Those who have a subscription now, in its period or in a grace period.
    case subscribers
    /// Those who had one, and have none now.
    case former
    /// Those who never had one.
    case new
}
