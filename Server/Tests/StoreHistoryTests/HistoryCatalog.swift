import AppStoreSimulator
import Foundation

/// The products and customers of a history's store.
enum HistoryCatalog {
    static let app = "com.example.app"
    static let consumables = ["coins", "gems"]
    static let subscriptions = ["gold", "platinum", "silver", "bronze", "news"]
    /// The first three use account tokens; the last is in the sandbox.
    static let customers = ["ada", "ben", "cleo", "dan", "eve", "finn", "tess"]
    static let tokens = ["ada": token(1), "ben": token(2), "cleo": token(3)]
    /// The last day of a month, from which months could drift.
    static let start = Date(timeIntervalSince1970: 1_769_860_800)  // 2026-01-31T12:00:00Z

    /// The duration of the passes, which no evidence states.
    static func passes() throws -> [String: StorePeriod] {
        ["season": try period("P1M"), "visit": try period("P10D")]
    }

    static func store(startingAt start: Date, graceDays: Int) throws -> AppStore {
        var store = AppStore(startingAt: start)
        try store.addApp(bundleID: app, gracePeriodDays: graceDays, environmentNames: .apple)
        for name in consumables { try store.addProduct(bundleID: app, productID: name, kind: .consumable) }
        try store.addProduct(bundleID: app, productID: "full", kind: .nonConsumable, isFamilyShareable: true)
        for name in try passes().keys.sorted() {
            try store.addProduct(bundleID: app, productID: name, kind: .nonRenewing)
        }
        let trial = StoreOffer(offerID: "trial", kind: .introductory, mode: .freeTrial, period: try period("P3D"))
        // The products of one group include upgrades, downgrades, and changes at the same level, of the same length (at
        // once) and of another length (with the next period). A week is shorter than most grace periods.
        let terms: [(productID: String, group: String, level: Int, period: String)] = [
            ("gold", "club", 1, "P1M"), ("platinum", "club", 1, "P1M"), ("silver", "club", 2, "P1M"),
            ("bronze", "club", 2, "P1W"), ("news", "press", 1, "P1W"),
        ]
        for terms in terms {
            try store.addProduct(
                bundleID: app, productID: terms.productID, kind: .autoRenewable, isFamilyShareable: true,
                subscription: StoreProduct.Terms(
                    groupID: terms.group, level: terms.level, period: try period(terms.period),
                    offers: terms.productID == "silver" ? [trial] : []))
        }
        for name in customers {
            try store.addCustomer(name, environment: name == "tess" ? .sandbox : .production)
        }
        return store
    }

    private static func token(_ number: UInt8) -> UUID {
        UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, number))
    }

    private static func period(_ text: String) throws -> StorePeriod {
        guard let period = StorePeriod(text) else { throw HistoryError(description: "\(text) is no period") }
        return period
    }
}
