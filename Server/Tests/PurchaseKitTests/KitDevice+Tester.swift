import Crypto
import Foundation
import KitTestSupport
import PurchaseKit
import Synchronization
import Testing

/// The actions of a tester on a device.
extension KitDevice {
    /// The result of the next payments.
    func mode(_ mode: String, receiptLags: Bool = false) async throws {
        try await simulated.control(
            "payments/mode", ["customer_id": customer, "mode": mode, "receipt_lags": receiptLags])
    }

    /// Completes the waiting payment.
    func approve() async throws { try await simulated.control("payments/payment-1/approve") }

    /// Sells a product outside of the app: its transaction arrives without a call.
    func sell(_ product: String, token: UUID? = nil) async throws -> PaymentTransaction {
        let result = try await simulated.buy(PurchasePayment(productID: product, appAccountToken: token))
        guard case .purchased(let transaction) = result else { throw LineCut() }
        return transaction
    }

    /// The newest transaction of the customer.
    func lastTransaction() async throws -> String? { try await simulated.history().last?.transactionID }

    /// A store other than that of the device, for engines without a server.
    var otherStore: FilePurchaseStore {
        FilePurchaseStore(
            file: world.folder.appending(path: "\(customer).other"),
            key: SymmetricKey(data: Array("the key of the test's own store.".utf8)))
    }

    /// Waits briefly for something that happens on its own.
    func settle() async throws { try await Task.sleep(for: .milliseconds(20)) }
}

extension KitLink {
    /// The paths of the requests so far.
    var paths: [String] { sent.withLock { $0.map(\.path) } }
}

extension KitDevice {
    /// Retries the waiting transactions, and returns the outcome of the transaction.
    func retry(_ engine: PurchaseEngine) async throws -> String {
        let transaction = try #require(try await simulated.unfinished().first)
        return await engine.handle(transaction).code
    }
}
