import AppStoreSimulator
import Foundation

/// The products and customers of a store whose notifications are delivered. The names of customers, and the numbers of
/// transactions, are those of one history, so that many histories share a database.
struct NewsCatalog: Sendable {
    static let app = "com.example.app"
    static let start = Date(timeIntervalSince1970: 1_769_860_800)  // 2026-01-31T12:00:00Z
    static let subscriptions = ["gold", "platinum", "silver", "bronze", "team", "squad"]
    static let products = ["coins", "full"] + subscriptions
    /// The products that are sold by the seat.
    static let seats: Set<String> = ["team", "squad"]

    /// The number of the history.
    let number: UInt64

    /// Customers whose purchases carry their account token.
    var named: [String] { ["ada", "ben"].map(name) }
    /// Customers whose app claims what they get.
    var claiming: [String] { ["cleo", "fay", "gus"].map(name) }
    var customers: [String] { named + claiming }

    /// The account token of a customer; nil if the customer has none.
    func token(of customer: String) -> UUID? {
        named.firstIndex(of: customer).map { place in
            UUID(
                uuid: (
                    0, 0, 0, 0, 0, 0, 0x40, UInt8(place), 0x80, 0, 0, 0, 0, UInt8(truncatingIfNeeded: number >> 16),
                    UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)
                ))
        }
    }

    /// The store of the history.
    func store(graceDays: Int) throws -> AppStore {
        var store = AppStore(startingAt: Self.start, firstTransaction: number * 10_000 + 1)
        try store.addApp(bundleID: Self.app, gracePeriodDays: graceDays, environmentNames: .apple)
        try store.addProduct(bundleID: Self.app, productID: "coins", kind: .consumable)
        try store.addProduct(bundleID: Self.app, productID: "full", kind: .nonConsumable, isFamilyShareable: true)
        let trial = StoreOffer(
            offerID: "trial", kind: .introductory, mode: .freeTrial, period: try Self.period("P3D"))
        for (productID, level, length) in [
            ("gold", 1, "P1M"), ("platinum", 1, "P1M"), ("silver", 2, "P1M"), ("bronze", 2, "P2W"),
        ] {
            try add(
                productID, "club", level, length, offers: productID == "silver" ? [trial] : [], to: &store)
        }
        try add("team", "teams", 1, "P1M", invitations: .developer, to: &store)
        try add("squad", "squads", 1, "P1M", invitations: .apple, to: &store)
        for customer in customers { try store.addCustomer(customer, environment: .production) }
        return store
    }

    private func name(_ role: String) -> String { "h\(number)-\(role)" }

    private func add(
        _ productID: String, _ group: String, _ level: Int, _ length: String, offers: [StoreOffer] = [],
        invitations: SeatInvitations? = nil, to store: inout AppStore
    ) throws {
        try store.addProduct(
            bundleID: Self.app, productID: productID, kind: .autoRenewable, isFamilyShareable: invitations == nil,
            subscription: StoreProduct.Terms(
                groupID: group, level: level, period: try Self.period(length), offers: offers,
                invitations: invitations))
    }

    private static func period(_ text: String) throws -> StorePeriod {
        guard let period = StorePeriod(text) else { throw HistoryError(description: "\(text) is no period") }
        return period
    }
}
