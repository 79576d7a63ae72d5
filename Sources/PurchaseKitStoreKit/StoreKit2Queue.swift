#if canImport(StoreKit)
    import Foundation
    public import PurchaseKit
    public import StoreKit

    /// The payment queue of StoreKit 2.
    @available(iOS 15, macOS 12, *)
    public struct StoreKit2Queue: PaymentQueue {
        public init() {}

        public func updates() -> AsyncStream<PaymentTransaction> {
            AsyncStream { continuation in
                let task = Task {
                    for await result in StoreKit.Transaction.updates { continuation.yield(PaymentTransaction(result)) }
                    continuation.finish()
                }
                continuation.onTermination = { _ in task.cancel() }
            }
        }

        public func unfinished() async throws -> [PaymentTransaction] {
            var transactions: [PaymentTransaction] = []
            for await result in StoreKit.Transaction.unfinished { transactions.append(PaymentTransaction(result)) }
            return transactions
        }

        public func buy(_ payment: PaymentRequest) async throws -> PaymentResult {
            guard let product = try await Product.products(for: [payment.productID]).first else {
                throw PurchaseError(.queueFailed, expected: "a product of the App Store", found: payment.productID)
            }
            var options: Set<Product.PurchaseOption> = [.quantity(payment.quantity)]
            if let token = payment.appAccountToken { options.insert(.appAccountToken(token)) }
            switch try await product.purchase(options: options) {
            case .success(let result): return .purchased(PaymentTransaction(result))
            case .userCancelled: return .cancelled
            case .pending: return .pending
            @unknown default: return .pending
            }
        }

        /// StoreKit finishes only its own values, so the transaction is looked up among those that are not finished.
        public func finish(_ transaction: PaymentTransaction) async throws {
            guard let id = transaction.transactionID.flatMap({ UInt64($0) }) else { return }
            for await result in StoreKit.Transaction.unfinished where result.unsafePayloadValue.id == id {
                await result.unsafePayloadValue.finish()
            }
        }

        public func restore() async throws -> [PaymentTransaction] {
            try await AppStore.sync()
            var transactions: [PaymentTransaction] = []
            for await result in StoreKit.Transaction.currentEntitlements {
                var transaction = PaymentTransaction(result)
                transaction.state = .restored
                transactions.append(transaction)
            }
            return transactions
        }
    }

    @available(iOS 15, macOS 12, *)
    extension PaymentTransaction {
        /// A transaction with StoreKit's proof, verified by StoreKit or not.
        public init(_ result: VerificationResult<StoreKit.Transaction>) {
            let isVerified: Bool
            switch result {
            case .verified: isVerified = true
            case .unverified: isVerified = false
            }
            let transaction = result.unsafePayloadValue
            self.init(
                transactionID: "\(transaction.id)", originalTransactionID: "\(transaction.originalID)",
                productID: transaction.productID, quantity: transaction.purchasedQuantity,
                appAccountToken: transaction.appAccountToken, signedTransaction: result.jwsRepresentation,
                isVerifiedByStoreKit: isVerified, purchaseDate: transaction.purchaseDate,
                expirationDate: transaction.expirationDate, revocationDate: transaction.revocationDate,
                isUpgraded: transaction.isUpgraded)
        }
    }

    @available(iOS 16.4, macOS 14.4, *)
    extension PurchaseEngine {
        /// Reports products that customers choose on the App Store, promoted ones and win-back offers, until the task is cancelled.
        /// The app decides, and calls `buy`.
        public func followPurchaseIntents() async {
            for await intent in PurchaseIntent.intents { promote(intent.product.id) }
        }
    }
#endif
