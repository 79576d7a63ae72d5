import Foundation

/// The payment queue of the App Store. `PurchaseKitStoreKit` has one for each API of StoreKit.
public protocol PaymentQueue: Sendable {
    /// Transactions as they arrive or change: renewals, purchases on other devices, approved and interrupted purchases,
    /// refunds.
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

    /// The products that the App Store withdraws from the customer without a transaction, such as those of a family
    /// that they left.
    func withdrawals() -> AsyncStream<[String]>

    /// The products with these ids that the App Store sells, in the order of the ids.
    func products(_ productIDs: [String]) async throws -> [PurchaseProduct]
}

extension PaymentQueue {
    /// Returns none: a queue that does not know them learns of a refund by its transaction.
    public func latest(_: [String]) async throws -> [PaymentTransaction] { [] }

    /// Returns no products: in StoreKit 2 a withdrawn purchase arrives as a transaction.
    public func withdrawals() -> AsyncStream<[String]> { AsyncStream { $0.finish() } }

    /// Throws: a queue without a shop lists no products.
    public func products(_: [String]) async throws -> [PurchaseProduct] {
        throw PurchaseError(.queueFailed, expected: "a queue that lists products", found: "\(Self.self)")
    }
}
