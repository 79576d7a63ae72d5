#if canImport(StoreKit)
    import Foundation
    public import PurchaseKit
    public import StoreKit

    /// The payment queue of StoreKit 2.
    public struct StoreKit2Queue: PaymentQueue {
        /// Asks the customer to pay. With SwiftUI's `PurchaseAction`: `{ try await purchase($0, options: $1) }`.
        public typealias Purchase =
            @MainActor @Sendable (Product, Set<Product.PurchaseOption>) async throws -> Product.PurchaseResult

        private let purchase: Purchase
        private let moreOptions: @Sendable (PurchasePayment) -> Set<Product.PurchaseOption>
        private let kept = KeptTransactions<StoreKit.Transaction>()

        /// - Parameters:
        ///   - purchase: asks the customer to pay; one of the ready ones in `PurchaseConfirmation`, or your own.
        ///   - moreOptions: options that `PurchasePayment` does not have, such as those of a newer system.
        public init(
            moreOptions: @escaping @Sendable (PurchasePayment) -> Set<Product.PurchaseOption> = { _ in [] },
            purchase: @escaping Purchase
        ) {
            (self.purchase, self.moreOptions) = (purchase, moreOptions)
        }

        public func updates() -> AsyncStream<PaymentTransaction> {
            AsyncStream(task: { continuation in
                for await result in StoreKit.Transaction.updates { continuation.yield(keep(result)) }
            })
        }

        public func unfinished() async throws -> [PaymentTransaction] {
            var transactions: [PaymentTransaction] = []
            for await result in StoreKit.Transaction.unfinished { transactions.append(keep(result)) }
            return transactions
        }

        public func buy(_ payment: PurchasePayment) async throws -> PaymentResult {
            let product = try await product(payment.productID)
            let options = try Product.PurchaseOption.options(of: payment, for: product)
            let answer: Result<Product.PurchaseResult, any Error>
            do {
                answer = .success(try await purchase(product, options.union(moreOptions(payment))))
            } catch {
                answer = .failure(error)
            }
            return try Self.result(of: answer, payment.productID) { keep($0) }
        }

        /// What StoreKit's answer to a purchase means.
        static func result(
            of answer: Result<Product.PurchaseResult, any Error>, _ productID: String,
            _ sold: (VerificationResult<StoreKit.Transaction>) -> PaymentTransaction
        ) throws -> PaymentResult {
            do {
                switch try answer.get() {
                case .success(let result): return .purchased(sold(result))
                case .userCancelled: return .cancelled
                case .pending: return .pending
                @unknown default: return .pending
                }
            } catch StoreKitError.userCancelled {
                // StoreKit also throws it, as when the customer leaves the sign-in to the App Store.
                return .cancelled
            } catch StoreKitError.notAvailableInStorefront {
                throw PurchaseError(.queueFailed, expected: "a product of this storefront", found: productID)
            } catch let error as Product.PurchaseError {
                // Each of them says why the customer was not asked.
                throw PurchaseError(.queueFailed, error)
            }
        }

        /// The product. Without a network nobody was asked to pay.
        private func product(_ productID: String) async throws -> Product {
            let found: [Product]
            do {
                found = try await Product.products(for: [productID])
            } catch {
                throw PurchaseError(.queueFailed, error)
            }
            guard let product = found.first else {
                throw PurchaseError(.queueFailed, expected: "a product of the App Store", found: productID)
            }
            return product
        }

        public func statusChanges() -> AsyncStream<Void> { CurrentTransactions.statusChanges() }

        /// StoreKit finishes only its own values. Those that this queue did not deliver are looked up.
        public func finish(_ transaction: PaymentTransaction) async throws {
            guard let id = transaction.transactionID else { return }
            if let value = kept.remove(id).first { return await value.finish() }
            guard let number = UInt64(id) else { return }
            for await result in StoreKit.Transaction.unfinished where result.unsafePayloadValue.id == number {
                await result.unsafePayloadValue.finish()
            }
        }

        public func restore() async throws -> [PaymentTransaction] {
            do {
                try await AppStore.sync()
            } catch StoreKitError.userCancelled {
                // The customer left the sign-in to the App Store.
                throw PurchaseError(.paymentCancelled)
            }
            return await CurrentTransactions.list().map(\.asRestored)
        }

        public func current() async throws -> [PaymentTransaction]? { await CurrentTransactions.list() }

        public func latest(_ productIDs: [String]) async throws -> [PaymentTransaction] {
            await CurrentTransactions.latest(productIDs)
        }

        public func appTransaction(refreshes: Bool) async -> String? {
            await CurrentTransactions.appTransaction(refreshes: refreshes)
        }

        public func environment() async -> String? { await AppEnvironment.name() }

        public func products(_ productIDs: [String]) async throws -> [PurchaseProduct] {
            try await ProductList.list(productIDs)
        }

        /// Delivers a transaction, and keeps StoreKit's value of it.
        private func keep(_ result: VerificationResult<StoreKit.Transaction>) -> PaymentTransaction {
            let transaction = PaymentTransaction(result)
            if let id = transaction.transactionID { kept.keep(result.unsafePayloadValue, id) }
            return transaction
        }
    }

    extension StoreKit2Queue {
        #if canImport(UIKit) && !os(watchOS)
            /// The queue of an app, which asks the customer in the scene that they look at.
            @available(iOSApplicationExtension, unavailable)
            @available(macCatalystApplicationExtension, unavailable)
            @available(tvOSApplicationExtension, unavailable)
            @available(visionOSApplicationExtension, unavailable)
            public init() { self.init(purchase: PurchaseConfirmation.activeScene) }
        #else
            /// The queue of an app, which lets StoreKit choose where to ask the customer.
            public init() { self.init(purchase: PurchaseConfirmation.automatic) }
        #endif
    }

    extension PaymentTransaction {
        /// A transaction with StoreKit's proof, verified by StoreKit or not.
        public init(_ result: VerificationResult<StoreKit.Transaction>) {
            let isVerified = if case .verified = result { true } else { false }
            let transaction = result.unsafePayloadValue
            self.init(
                transactionID: "\(transaction.id)", originalTransactionID: "\(transaction.originalID)",
                productID: transaction.productID, quantity: transaction.purchasedQuantity,
                appAccountToken: transaction.appAccountToken, signedTransaction: result.jwsRepresentation,
                isVerifiedByStoreKit: isVerified, purchaseDate: transaction.purchaseDate,
                expirationDate: transaction.expirationDate, revocationDate: transaction.revocationDate,
                isUpgraded: transaction.isUpgraded)
            #if DEBUG
                // Nothing that the core verifies states it.
                if #available(iOS 16, macOS 13, tvOS 16, watchOS 9, *), transaction.environment == .xcode {
                    environment = "Xcode"
                    kind = ProductList.kind(transaction.productType)
                }
            #endif
        }
    }

    #if !os(tvOS) && !os(watchOS) && !os(visionOS)
        @available(iOS 16.4, macOS 14.4, macCatalyst 16.4, *)
        extension PurchaseEngine {
            /// Reports products that customers choose on the App Store, promoted ones and win-back offers, until the
            /// task is cancelled. The app decides, and calls `buy` with the product and the offer.
            public func followPurchaseIntents() async {
                for await intent in PurchaseIntent.intents { promote(intent.product.id, offer: intent.paymentOffer) }
            }
        }

        @available(iOS 16.4, macOS 14.4, macCatalyst 16.4, *)
        extension PurchaseIntent {
            /// The offer that the customer chose, if any. Other kinds than win-back need a signature first.
            fileprivate var paymentOffer: PaymentOffer? {
                guard #available(iOS 18, macOS 15, macCatalyst 18, *), let offer, offer.type == .winBack else {
                    return nil
                }
                return offer.id.map { .winBack(id: $0) }
            }
        }
    #endif
#endif
