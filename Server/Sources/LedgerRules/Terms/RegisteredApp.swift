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
