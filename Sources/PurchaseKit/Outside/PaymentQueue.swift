import Foundation

/// The payment queue of the App Store. `PurchaseKitStoreKit` has one for each API of StoreKit.
public protocol PaymentQueue: Sendable {
    /// Transactions as they arrive or change: renewals, purchases on other devices, approved and interrupted purchases, refunds.
    func updates() -> AsyncStream<PaymentTransaction>

    /// The transactions that are not finished.
    func unfinished() async throws -> [PaymentTransaction]

    /// Asks the customer to pay.
    ///
    /// - Throws: the queue's error if the purchase did not begin; the engine never cancels an order because of it.
    func buy(_ payment: PaymentRequest) async throws -> PaymentResult

    /// Informs the App Store that the purchase was delivered or refused. Finishing a finished transaction does nothing.
    func finish(_ transaction: PaymentTransaction) async throws

    /// Restores earlier purchases, and returns all of them when the App Store has sent the last.
    func restore() async throws -> [PaymentTransaction]

    /// The products that the App Store withdraws from the customer without a transaction, such as those of a family that they left.
    func withdrawals() -> AsyncStream<[String]>
}

extension PaymentQueue {
    /// Returns no products: in StoreKit 2 a withdrawn purchase arrives as a transaction.
    public func withdrawals() -> AsyncStream<[String]> { AsyncStream { $0.finish() } }
}
