/// An app with products, for a store that opens with something to buy.
public struct SampleShop: Sendable {
    public var bundleID: String
    /// The App Store's number of the app; nil takes the next free number.
    public var appID: UInt64?
    /// The secret that `verifyReceipt` requires; nil requires none.
    public var sharedSecret: String?
    /// The products by id; nil for coins, a lasting product and a subscription by the month.
    public var products: [String: StoreProduct.Kind]?

    public init(bundleID: String) { self.bundleID = bundleID }
}

extension ServiceState {
    /// Adds what the store does not have yet: the app, its products, and the customer `alice`.
    mutating func open(_ shop: SampleShop, _ names: EnvironmentNames) throws {
        guard let month = StorePeriod(1, .month) else { return }
        let bundleID = shop.bundleID
        if store.state.apps[bundleID] == nil {
            try store.addApp(
                bundleID: bundleID, appID: shop.appID, sharedSecret: shop.sharedSecret, gracePeriodDays: 16,
                environmentNames: names)
        }
        if store.state.customers["alice"] == nil { try store.addCustomer("alice", environment: .production) }
        func isMissing(_ productID: String) -> Bool {
            store.state.products[StoreState.key(bundleID, productID)] == nil
        }
        guard let products = shop.products else {
            if isMissing("coins") { try store.addProduct(bundleID: bundleID, productID: "coins", kind: .consumable) }
            if isMissing("pro") {
                try store.addProduct(
                    bundleID: bundleID, productID: "pro", kind: .nonConsumable, price: 9990, isFamilyShareable: true)
            }
            if isMissing("monthly") {
                try store.addProduct(
                    bundleID: bundleID, productID: "monthly", kind: .autoRenewable, price: 4990,
                    subscription: StoreProduct.Terms(groupID: "club", period: month))
            }
            return
        }
        for (productID, kind) in products.sorted(by: { $0.key < $1.key }) where isMissing(productID) {
            // Settings do not state the terms of a subscription. Each is its own group, so that all can be bought
            // together.
            let terms = StoreProduct.Terms(groupID: productID, period: month)
            try store.addProduct(
                bundleID: bundleID, productID: productID, kind: kind,
                subscription: kind == .autoRenewable ? terms : nil)
        }
    }
}
