import Foundation
import PurchaseMessages
import PurchaseVerification

/// What the newest signed answer says about a product in an environment. The answer was verified when it arrived, so it
/// counts until a newer one, also after the pinned keys changed.
struct StoredEntitlement: Codable, Equatable {
    var customerID: String
    let productID: String
    let environment: String
    private(set) var state: String
    let reason: String?
    private(set) var until: Date?
    private(set) var balance: Int64?
    let transactionID: String?
    let renewal: PurchaseRenewal?
    /// When the server signed it, by the server's clock.
    private(set) var signedAt: Date
    /// The named entitlements that it gives; `nil` if no answer about the account said it yet.
    var names: [String]?

    var isActive: Bool { state == EntitlementMessage.State.active.rawValue }

    /// Whether the customer has, or had, the use of it: units may be used up by now.
    var counts: Bool { isActive || state == EntitlementMessage.State.consumed.rawValue }

    init(_ message: EntitlementMessage, of customerID: String, signedAt: Date) {
        (self.customerID, productID, self.signedAt) = (customerID, message.productID, signedAt)
        (environment, state) = (message.environment.rawValue, message.state.rawValue)
        (reason, balance, transactionID) = (message.reason?.rawValue, message.balance, message.transactionID)
        until = message.until.flatMap { AppStoreTime($0)?.date }
        renewal = message.renewal.flatMap { PurchaseRenewal($0) }
    }

    /// The entitlements of an answer, one for each product and environment. Purchases of one product can be of several
    /// kinds: an active one comes first.
    static func all(
        _ messages: [EntitlementMessage], of customerID: String, signedAt: Date
    ) -> [StoredEntitlement] {
        var found: [StoredEntitlement] = []
        for message in messages {
            let new = StoredEntitlement(message, of: customerID, signedAt: signedAt)
            if let place = found.firstIndex(where: { $0.isSameProduct(as: new) }) {
                if !found[place].counts, new.counts { found[place] = new }
            } else {
                found.append(new)
            }
        }
        return found
    }

    mutating func end(at date: Date) {
        state = EntitlementMessage.State.inactive.rawValue
        (until, balance, names, signedAt) = (nil, balance.map { _ in 0 }, nil, date)
    }

    func isSameProduct(as other: StoredEntitlement) -> Bool {
        productID == other.productID && environment == other.environment && customerID == other.customerID
    }
}

/// What a signed answer says about a customer's entitlements.
struct EntitlementAnswer {
    let customerID: String
    let signedAt: Date
    /// Those of the products that were asked about.
    let asked: [StoredEntitlement]
    /// All that the customer has; `nil` if the answer does not say it, or says it of another customer.
    let account: [StoredEntitlement]?

    init(_ asked: [EntitlementMessage], _ account: EntitlementList?, of customerID: String, signedAt: Date) {
        (self.customerID, self.signedAt) = (customerID, signedAt)
        self.asked = StoredEntitlement.all(asked, of: customerID, signedAt: signedAt)
        guard let account, account.customerID.isSame(as: customerID) else {
            self.account = nil
            return
        }
        var all = StoredEntitlement.all(account.entitlements, of: customerID, signedAt: signedAt)
        let named = account.named.filter { $0.state == .active }
        for place in all.indices where all[place].isActive {
            all[place].names = named.filter { $0.products.contains(all[place].productID) }.map(\.name)
        }
        self.account = all
    }
}
