import AppStoreSimulator
import EvidenceMint
import Foundation
import Testing

/// A store with one app of four products, and two customers, `ada` and `grace`.
enum StoreWorld {
    static let start = Date(timeIntervalSince1970: 1_769_860_800)  // 2026-01-31T12:00:00Z
    static let app = "com.example.app"

    static func store(gracePeriodDays: Int = 0, trial: Bool = false) throws -> AppStore {
        var store = AppStore(startingAt: start)
        try store.addApp(bundleID: app, sharedSecret: "secret", gracePeriodDays: gracePeriodDays)
        try store.addProduct(bundleID: app, productID: "coins", kind: .consumable)
        try store.addProduct(bundleID: app, productID: "full", kind: .nonConsumable, isFamilyShareable: true)
        try store.addProduct(bundleID: app, productID: "season", kind: .nonRenewing)
        let week = try #require(StorePeriod("P1W"))
        let month = try #require(StorePeriod("P1M"))
        let offers = trial ? [StoreOffer(offerID: "trial", kind: .introductory, mode: .freeTrial, period: week)] : []
        for (index, productID) in ["gold", "silver"].enumerated() {
            try store.addProduct(
                bundleID: app, productID: productID, kind: .autoRenewable, price: 9990 - Int64(index) * 5000,
                isFamilyShareable: true,
                subscription: StoreProduct.Terms(groupID: "club", level: index + 1, period: month, offers: offers))
        }
        try store.addCustomer("ada", environment: .production)
        try store.addCustomer("grace", environment: .production)
        return store
    }

    /// Creating keys is slow, so one authority serves all tests.
    static func authority() throws -> AppStoreAuthority { try sharedAuthority.get() }

    private static let sharedAuthority = Result { try AppStoreAuthority() }
}
