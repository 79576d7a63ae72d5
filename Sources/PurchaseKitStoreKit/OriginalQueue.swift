#if canImport(StoreKit)
    public import Foundation
    public import PurchaseKit
    public import StoreKit

    /// The payment queue of the original API (`SKPaymentQueue`). Make one at launch and keep it: StoreKit delivers transactions to
    /// observers only.
    ///
    /// The proof of a purchase is StoreKit 2's signed transaction, which is there at once; the receipt on the disk lags behind
    /// it. Without a signed transaction, the receipt is the proof.
    ///
    /// Unchecked, because the lock guards everything that changes.
    public final class OriginalQueue: NSObject, PaymentQueue, SKPaymentTransactionObserver, @unchecked Sendable {
        private let queue: SKPaymentQueue
        /// Whether a payment that the customer began on the App Store continues at once.
        private let shouldAddStorePayment: @Sendable (_ productID: String) -> Bool
        private let lock = NSLock()
        private let prefersSignedTransactions: Bool
        private var listeners: [UUID: AsyncStream<PaymentTransaction>.Continuation] = [:]
        private var withdrawalListeners: [UUID: AsyncStream<[String]>.Continuation] = [:]
        private var restoring: [CheckedContinuation<[PaymentTransaction], any Error>] = []
        private var restored: [PaymentTransaction] = []
        private var productRequests: [ProductRequest] = []

        /// - Parameters:
        ///   - queue: the queue, as a rule `SKPaymentQueue.default()`.
        ///   - prefersSignedTransactions: whether to look for StoreKit 2's signed transaction of each purchase.
        ///   - shouldAddStorePayment: whether a promoted purchase that the customer began on the App Store continues at once.
        public init(
            queue: SKPaymentQueue = .default(), prefersSignedTransactions: Bool = true,
            shouldAddStorePayment: @escaping @Sendable (_ productID: String) -> Bool = { _ in true }
        ) {
            self.queue = queue
            self.prefersSignedTransactions = prefersSignedTransactions
            self.shouldAddStorePayment = shouldAddStorePayment
            super.init()
            queue.add(self)
        }

        public func updates() -> AsyncStream<PaymentTransaction> {
            let id = UUID()
            let delivered = AsyncStream<PaymentTransaction> { continuation in
                locked { $0.listeners[id] = continuation }
                continuation.onTermination = { _ in self.locked { $0.listeners[id] = nil } }
            }
            return AsyncStream { continuation in
                let task = Task {
                    for await transaction in delivered {
                        for transaction in await self.withProofs([transaction]) { continuation.yield(transaction) }
                    }
                    continuation.finish()
                }
                continuation.onTermination = { _ in task.cancel() }
            }
        }

        public func withdrawals() -> AsyncStream<[String]> {
            let id = UUID()
            return AsyncStream { continuation in
                locked { $0.withdrawalListeners[id] = continuation }
                continuation.onTermination = { _ in self.locked { $0.withdrawalListeners[id] = nil } }
            }
        }

        public func unfinished() async throws -> [PaymentTransaction] {
            await withProofs(queue.transactions.map { PaymentTransaction($0) })
        }

        public func buy(_ payment: PaymentRequest) async throws -> PaymentResult {
            let product = try await product(payment.productID)
            let sent = SKMutablePayment(product: product)
            sent.quantity = payment.quantity
            sent.applicationUsername = payment.appAccountToken?.uuidString
            queue.add(sent)
            return .queued
        }

        public func finish(_ transaction: PaymentTransaction) async throws {
            for candidate in queue.transactions where PaymentTransaction(candidate).isSame(as: transaction) {
                queue.finishTransaction(candidate)
            }
        }

        public func restore() async throws -> [PaymentTransaction] {
            try await withCheckedThrowingContinuation { continuation in
                let isFirst = locked { own in
                    own.restoring.append(continuation)
                    return own.restoring.count == 1
                }
                if isFirst { queue.restoreCompletedTransactions() }
            }
        }

        // MARK: SKPaymentTransactionObserver

        public func paymentQueue(_: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]) {
            for transaction in transactions {
                let payment = PaymentTransaction(transaction)
                let listeners = locked { own in
                    // A restore that the app asked for is answered as a whole.
                    if payment.state == .restored, !own.restoring.isEmpty {
                        own.restored.append(payment)
                        return [AsyncStream<PaymentTransaction>.Continuation]()
                    }
                    return Array(own.listeners.values)
                }
                for listener in listeners { listener.yield(payment) }
            }
        }

        public func paymentQueueRestoreCompletedTransactionsFinished(_: SKPaymentQueue) {
            let (waiting, transactions) = endRestore()
            for continuation in waiting { continuation.resume(returning: transactions) }
        }

        public func paymentQueue(
            _: SKPaymentQueue, restoreCompletedTransactionsFailedWithError error: any Error
        ) {
            let (waiting, _) = endRestore()
            for continuation in waiting { continuation.resume(throwing: error) }
        }

        public func paymentQueue(
            _: SKPaymentQueue, shouldAddStorePayment payment: SKPayment, for _: SKProduct
        ) -> Bool { shouldAddStorePayment(payment.productIdentifier) }

        public func paymentQueue(
            _: SKPaymentQueue, didRevokeEntitlementsForProductIdentifiers productIDs: [String]
        ) {
            for listener in locked({ Array($0.withdrawalListeners.values) }) { listener.yield(productIDs) }
        }

        // MARK: Helpers

        /// The transactions with StoreKit 2's proofs, which it has of purchases by both APIs until they are finished. A restored
        /// transaction has an id of its own, and the restore has refreshed its receipt.
        private func withProofs(_ transactions: [PaymentTransaction]) async -> [PaymentTransaction] {
            guard prefersSignedTransactions, transactions.contains(where: { $0.state == .purchased }) else {
                return transactions
            }
            var proofs: [String: PaymentTransaction] = [:]
            for await result in StoreKit.Transaction.unfinished {
                proofs["\(result.unsafePayloadValue.id)"] = PaymentTransaction(result)
            }
            return transactions.map { transaction in
                guard transaction.state == .purchased, let id = transaction.transactionID else { return transaction }
                return proofs[id] ?? transaction
            }
        }

        private func endRestore() -> ([CheckedContinuation<[PaymentTransaction], any Error>], [PaymentTransaction]) {
            locked { own in
                defer { (own.restoring, own.restored) = ([], []) }
                return (own.restoring, own.restored)
            }
        }

        private func locked<Value>(_ body: (OriginalQueue) -> Value) -> Value {
            lock.lock()
            defer { lock.unlock() }
            return body(self)
        }

        private func product(_ productID: String) async throws -> SKProduct {
            let request = ProductRequest(productID)
            locked { $0.productRequests.append(request) }
            defer { locked { own in own.productRequests.removeAll { $0 === request } } }
            return try await request.product().value
        }
    }

    /// Asks for one product.
    ///
    /// Unchecked: StoreKit answers once, after `start`.
    private final class ProductRequest: NSObject, SKProductsRequestDelegate, @unchecked Sendable {
        private let productID: String
        private let request: SKProductsRequest
        private var continuation: CheckedContinuation<Found, any Error>?

        /// `SKProduct` is not `Sendable`, but does not change after it was received.
        struct Found: @unchecked Sendable {
            let value: SKProduct
        }

        init(_ productID: String) {
            self.productID = productID
            request = SKProductsRequest(productIdentifiers: [productID])
            super.init()
            request.delegate = self
        }

        func product() async throws -> Found {
            try await withCheckedThrowingContinuation { continuation in
                self.continuation = continuation
                request.start()
            }
        }

        func productsRequest(_: SKProductsRequest, didReceive response: SKProductsResponse) {
            let found = response.products.first { $0.productIdentifier == productID }
            if let found {
                continuation?.resume(returning: Found(value: found))
            } else {
                continuation?.resume(
                    throwing: PurchaseError(.queueFailed, expected: "a product of the App Store", found: productID))
            }
            continuation = nil
        }

        func request(_: SKRequest, didFailWithError error: any Error) {
            continuation?.resume(throwing: error)
            continuation = nil
        }
    }

    extension PaymentTransaction {
        /// A transaction of the original API. Its proof is the app receipt, or its own receipt if there is no app receipt.
        public init(_ transaction: SKPaymentTransaction) {
            var state = State.purchasing
            switch transaction.transactionState {
            case .purchasing: state = .purchasing
            case .purchased: state = .purchased
            case .failed: state = .failed
            case .restored: state = .restored
            case .deferred: state = .deferred
            @unknown default: state = .purchasing
            }
            var receipt: [UInt8]?
            #if !os(macOS) && !os(tvOS) && !os(watchOS) && !os(visionOS) && !targetEnvironment(macCatalyst)
                receipt = transaction.transactionReceipt.map { [UInt8]($0) }
            #endif
            self.init(
                transactionID: transaction.transactionIdentifier,
                originalTransactionID: transaction.original?.transactionIdentifier,
                productID: transaction.payment.productIdentifier, state: state,
                quantity: transaction.payment.quantity,
                appAccountToken: transaction.payment.applicationUsername.flatMap { UUID(uuidString: $0) },
                transactionReceipt: receipt, purchaseDate: transaction.transactionDate,
                failure: transaction.error.map { PurchaseError(.paymentFailed, found: $0.localizedDescription) })
        }

        /// Whether both are the same transaction of the queue. A failed transaction has no id.
        fileprivate func isSame(as other: PaymentTransaction) -> Bool {
            state == other.state && productID == other.productID && transactionID == other.transactionID
        }
    }
#endif
