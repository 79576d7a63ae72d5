public import Foundation

/// The payment queue of the App Store. `PurchaseKitStoreKit` has one for each API of StoreKit.
public protocol PaymentQueue: Sendable {
    /// Transactions as they arrive or change: renewals, refunds, approved, interrupted and other devices' purchases.
    func updates() -> AsyncStream<PaymentTransaction>

    /// The transactions that are not finished.
    func unfinished() async throws -> [PaymentTransaction]

    /// Asks the customer to pay.
    ///
    /// - Throws: the queue's error if the purchase did not begin; the engine never cancels an order because of it.
    func buy(_ payment: PurchasePayment) async throws -> PaymentResult

    /// Informs the App Store that the purchase was delivered or refused. Finishing a finished transaction does nothing.
    func finish(_ transaction: PaymentTransaction) async throws

    /// Restores earlier purchases, and returns all of them when the App Store has sent the last.
    func restore() async throws -> [PaymentTransaction]

    /// The newest transaction of each product that the App Store lists as the customer's now, as of its last news,
    /// without asking for a password: `Transaction.currentEntitlements`, with grace periods. `nil` if the queue cannot
    /// list them, as in the original API; the app receipt then says it.
    func current() async throws -> [PaymentTransaction]?

    /// The newest transaction of each of these products, also one that the App Store refunded or revoked, without
    /// asking for a password: `Transaction.latest(for:)`. Products without a known transaction are left out.
    func latest(_ productIDs: [String]) async throws -> [PaymentTransaction]

    /// The environment of this installation of the app, as signed evidence names it (`Production`, `Sandbox`, `Xcode`):
    /// that of `AppTransaction`, else the one that the name of the receipt file says. `nil` if the system does not know
    /// it now.
    func environment() async -> String?

    /// The signed app transaction, which lets a restore take over what a guest of this Apple Account bought; `nil` if
    /// the system has none now.
    ///
    /// - Parameter refreshes: whether the App Store signs a new one, which may ask for a password.
    func appTransaction(refreshes: Bool) async -> String?

    /// The products that the App Store withdraws without a transaction, such as those of a family that they left.
    func withdrawals() -> AsyncStream<[String]>

    /// A value whenever the state of a subscription changed without a transaction: a grace period begins, a renewal was
    /// switched off (`Product.SubscriptionInfo.Status.updates`).
    func statusChanges() -> AsyncStream<Void>

    /// The products with these ids that the App Store sells, in the order of the ids.
    func products(_ productIDs: [String]) async throws -> [PurchaseProduct]
}

extension PaymentQueue {
    /// Returns none: a queue that does not know them learns of a refund by its transaction.
    public func latest(_: [String]) async throws -> [PaymentTransaction] { [] }

    /// Returns none: only StoreKit 2 has one.
    public func appTransaction(refreshes _: Bool) async -> String? { nil }

    /// Returns no products: in StoreKit 2 a withdrawn purchase arrives as a transaction.
    public func withdrawals() -> AsyncStream<[String]> { AsyncStream { $0.finish() } }

    /// Returns no changes: a queue that does not know them is asked when a period ends.
    public func statusChanges() -> AsyncStream<Void> { AsyncStream { $0.finish() } }

    /// Throws: a queue without a shop lists no products.
    public func products(_: [String]) async throws -> [PurchaseProduct] {
        throw PurchaseError(.queueFailed, expected: "a queue that lists products", found: "\(Self.self)")
    }
}

/// A purchase that the customer is asked to make.
public struct PurchasePayment: Sendable, Equatable {
    public var productID: String
    /// How many units of a consumable; otherwise 1.
    public var quantity: Int
    /// How many seats the subscription has after the purchase: not how many are added.
    public var seats: Int?
    /// How a yearly subscription is paid.
    public var plan: BillingPlan?
    /// The customer's UUID, which the App Store returns with the transaction.
    public var appAccountToken: UUID?
    /// The offer that the purchase uses.
    public var offer: PaymentOffer?
    /// Whether the sandbox acts as if the customer had to ask a parent.
    public var simulatesAskToBuyInSandbox: Bool

    public init(
        productID: String, quantity: Int = 1, seats: Int? = nil, plan: BillingPlan? = nil,
        appAccountToken: UUID? = nil, offer: PaymentOffer? = nil, simulatesAskToBuyInSandbox: Bool = false
    ) {
        (self.productID, self.quantity, self.seats, self.plan) = (productID, quantity, seats, plan)
        (self.appAccountToken, self.offer) = (appAccountToken, offer)
        self.simulatesAskToBuyInSandbox = simulatesAskToBuyInSandbox
    }
}

/// An offer of a subscription that a purchase uses.
public enum PaymentOffer: Sendable, Equatable {
    /// A promotional offer with the signature of Apple's first form, made by a server with a key of App Store Connect.
    /// The only offer of the original API (`SKPaymentDiscount`).
    case promotional(id: String, keyID: String, nonce: UUID, signature: Data, timestamp: Int64)
    /// A promotional offer that a server signed as a JWS; StoreKit 2 only.
    case promotionalJWS(id: String, compactJWS: String)
    /// Whether the customer gets the introductory offer, as a server signed it; StoreKit 2 only.
    case introductory(compactJWS: String)
    /// A win-back offer; StoreKit 2 since iOS 18 and macOS 15 only.
    case winBack(id: String)
}

public enum PaymentResult: Sendable, Equatable {
    /// The transaction. `updates` does not repeat it.
    case purchased(PaymentTransaction)
    /// It waits for an approval or for the customer's bank; `updates` brings the transaction, perhaps much later.
    case pending
    case cancelled
    /// `updates` brings everything, as in the original API.
    case queued
}
