public import PurchaseVerification

/// An app as its operator registered it: whose purchases are taken, and how.
public struct RegisteredApp: Sendable, Equatable {
    /// The operator's name for the app; keys, orders and purchases belong to it.
    public var id: String
    /// The bundle ids whose evidence is taken; never empty.
    public var bundleIDs: Set<String>
    /// The App Store's number of the app ("Apple ID" in App Store Connect). Where it is set, production receipts must name it.
    public var appleID: UInt64?
    /// The environments whose evidence is taken. App Review sends sandbox receipts to production, so both are the default.
    public var environments: Set<AppStoreEnvironment> = [.production, .sandbox]
    /// The app versions whose receipts are taken; empty means all.
    public var versions: Set<String> = []
    /// The products by their id. Where there are none, evidence itself must say what kind of product it is.
    public var products: [String: RegisteredProduct] = [:]
    /// What happens when another customer restores a purchase.
    public var transfer = TransferPolicy.deny
    /// How long an order waits for its payment, in milliseconds.
    public var orderLifetime: Int64 = 86_400_000

    /// An app with the defaults.
    public init(id: String, bundleIDs: Set<String>) {
        self.id = id
        self.bundleIDs = bundleIDs
    }

    /// The product that is registered under an id, byte by byte.
    func product(_ id: String) -> RegisteredProduct? {
        products.index(forKey: id).flatMap { products[$0].key.isSame(as: id) ? products[$0].value : nil }
    }

    /// What kind of product a purchase is of: as registered, or, where the app registers none, as the evidence says. How long
    /// a non-renewing subscription lasts only the register can say.
    func product(of purchase: ProvenPurchase) -> RegisteredProduct? {
        let product =
            products.isEmpty
            ? purchase.productKind.map { RegisteredProduct(kind: $0) } : product(purchase.productID)
        guard let product, product.kind != .nonRenewing || product.duration != nil else { return nil }
        return product
    }
}

/// A product of an app.
public struct RegisteredProduct: Sendable, Hashable {
    /// What kind of product it is.
    public var kind: ProductKind
    /// How long a non-renewing subscription lasts, in milliseconds; evidence does not say it.
    public var duration: Int64?

    /// A product of a kind.
    public init(kind: ProductKind, duration: Int64? = nil) {
        self.kind = kind
        self.duration = duration
    }
}

/// The four kinds of products of the App Store.
public enum ProductKind: String, Sendable, CaseIterable {
    /// Used up: each purchase adds to a balance.
    case consumable
    /// Bought once and kept.
    case nonConsumable = "non_consumable"
    /// Renewed by the store until it is cancelled; the evidence says when it ends.
    case autoRenewable = "auto_renewable"
    /// Ends after a time that the operator configures.
    case nonRenewing = "non_renewing"
}

/// What happens when a customer restores what another one owns.
public enum TransferPolicy: String, Sendable, CaseIterable {
    /// It stays with the recorded owner.
    case deny
    /// It moves to the one who restores it, as an event.
    case move
}
