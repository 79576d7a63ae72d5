import Foundation

extension ServiceState {
    /// Opens a small shop in a store without apps, so that there is something to buy: coins, a lasting product, a subscription by the
    /// month, and the customer `alice`.
    mutating func openSampleShop(_ bundleID: String, _ names: EnvironmentNames) throws {
        guard store.apps.isEmpty else { return }
        _ = try store.addApp(bundleID: bundleID, environmentNames: names)
        _ = try store.addProduct(bundleID: bundleID, productID: "coins", kind: .consumable)
        _ = try store.addProduct(
            bundleID: bundleID, productID: "pro", kind: .nonConsumable, price: 9990, isFamilyShareable: true)
        let terms = try StoreJSON.decode(
            StoreProduct.Terms.self, from: Data(#"{"group_id":"club","level":1,"period":"P1M"}"#.utf8))
        _ = try store.addProduct(
            bundleID: bundleID, productID: "monthly", kind: .autoRenewable, price: 4990, subscription: terms)
        _ = try store.addCustomer("alice", environment: .production)
    }
}
