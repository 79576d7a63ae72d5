#if canImport(StoreKit)
    public import Foundation
    public import PurchaseKit
    public import StoreKit

    /// The payment queue of the original API (`SKPaymentQueue`). Make one at launch and keep it: StoreKit delivers
    /// transactions to observers only.
    ///
    /// The proof of a purchase is StoreKit 2's signed transaction, which is there at once; the receipt on the disk lags
    /// behind it. Without a signed transaction, the receipt is the proof. Refunds arrive from StoreKit 2, too: the
    /// original API reports none.
    ///
    /// Unchecked, because the lock guards everything that changes.
    public final class OriginalQueue: NSObject, PaymentQueue, SKPaymentTransactionObserver, @unchecked Sendable {
        private let queue: SKPaymentQueue
        /// Whether a payment that the customer began on the App Store continues at once.
        private let shouldAddStorePayment: @Sendable (_ productID: String) -> Bool
        private let lock = NSLock()
        private let prefersSignedTransactions: Bool
        private var inboxes: [UUID: Inbox] = [:]
        private var withdrawalListeners: [UUID: AsyncStream<[String]>.Continuation] = [:]
        private var restoring: [CheckedContinuation<[PaymentTransaction], any Error>] = []
        private var restored: [PaymentTransaction] = []
        let kept = KeptTransactions<SKPaymentTransaction>()
        private let keptRefunds = KeptTransactions<StoreKit.Transaction>()

        /// What arrived for one listener since it last looked.
        private struct Inbox {
            let signal: AsyncStream<Void>.Continuation
            var arrived: [PaymentTransaction] = []
        }

        /// - Parameters:
        ///   - queue: the queue, as a rule `SKPaymentQueue.default()`.
        ///   - prefersSignedTransactions: whether to look for StoreKit 2's signed transaction of each purchase.
        ///   - shouldAddStorePayment: whether a purchase that was begun on the App Store continues at once.
        public init(
            queue: SKPaymentQueue = .default(), prefersSignedTransactions: Bool = true,
            shouldAddStorePayment: @escaping @Sendable (_ productID: String) -> Bool = { _ in true }
        ) {
            (self.queue, self.prefersSignedTransactions) = (queue, prefersSignedTransactions)
            self.shouldAddStorePayment = shouldAddStorePayment
            super.init()
            queue.add(self)
        }

        deinit { queue.remove(self) }

        public func updates() -> AsyncStream<PaymentTransaction> {
            let id = UUID()
            // One signal for all that arrived, so that the proofs of a thousand transactions are looked up once.
            let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            locked { $0.inboxes[id] = Inbox(signal: signal) }
            return AsyncStream { continuation in
                let task = Task {
                    for await _ in signals {
                        for transaction in await self.withProofs(self.takeArrived(id)) {
                            continuation.yield(transaction)
                        }
                    }
                    continuation.finish()
                }
                let refunds = Task { for await refund in self.refunds() { continuation.yield(refund) } }
                continuation.onTermination = { _ in
                    task.cancel()
                    refunds.cancel()
                    self.locked { $0.inboxes[id] = nil }
                }
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
            await withProofs(queue.transactions.map { keep($0) })
        }

        public func buy(_ payment: PurchasePayment) async throws -> PaymentResult {
            let product = try await self.product(payment.productID)
            let sent = SKMutablePayment(product: product)
            sent.quantity = payment.quantity
            sent.applicationUsername = payment.appAccountToken?.uuidString
            sent.simulatesAskToBuyInSandbox = payment.simulatesAskToBuyInSandbox
            sent.paymentDiscount = try Self.discount(payment)
            queue.add(sent)
            return .queued
        }

        public func finish(_ transaction: PaymentTransaction) async throws {
            if let id = transaction.transactionID, let refund = keptRefunds.remove(id).first { await refund.finish() }
            for value in kept.remove(Self.key(transaction)) { queue.finishTransaction(value) }
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

        /// StoreKit 2's list, of purchases by both APIs; `nil` for a queue that does not use StoreKit 2.
        public func current() async throws -> [PaymentTransaction]? {
            prefersSignedTransactions ? await CurrentTransactions.list() : nil
        }

        public func latest(_ productIDs: [String]) async throws -> [PaymentTransaction] {
            prefersSignedTransactions ? await CurrentTransactions.latest(productIDs) : []
        }

        public func statusChanges() -> AsyncStream<Void> {
            prefersSignedTransactions ? CurrentTransactions.statusChanges() : AsyncStream { $0.finish() }
        }

        public func appTransaction(refreshes: Bool) async -> String? {
            prefersSignedTransactions ? await CurrentTransactions.appTransaction(refreshes: refreshes) : nil
        }

        public func environment() async -> String? { await AppEnvironment.name() }

        public func products(_ productIDs: [String]) async throws -> [PurchaseProduct] {
            try await ProductList.list(productIDs)
        }

        // MARK: SKPaymentTransactionObserver

        public func paymentQueue(_: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction]) {
            let payments = transactions.map { keep($0) }
            let signals = locked { own in
                // A restore that the app asked for is answered as a whole.
                let answered = own.restoring.isEmpty ? [] : payments.filter { $0.state == .restored }
                own.restored += answered
                let others = answered.isEmpty ? payments : payments.filter { $0.state != .restored }
                for id in own.inboxes.keys { own.inboxes[id]?.arrived += others }
                return own.inboxes.values.map(\.signal)
            }
            for signal in signals { signal.yield() }
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

        #if !os(watchOS)
            public func paymentQueue(
                _: SKPaymentQueue, shouldAddStorePayment payment: SKPayment, for _: SKProduct
            ) -> Bool { shouldAddStorePayment(payment.productIdentifier) }
        #endif

        public func paymentQueue(
            _: SKPaymentQueue, didRevokeEntitlementsForProductIdentifiers productIDs: [String]
        ) {
            for listener in locked({ Array($0.withdrawalListeners.values) }) { listener.yield(productIDs) }
        }

        // MARK: Helpers

        /// A discount of the original API; it has no other offers, no seats and no billing plans.
        private static func discount(_ payment: PurchasePayment) throws -> SKPaymentDiscount? {
            guard payment.seats == nil, payment.plan == nil else {
                throw PurchaseError(.queueFailed, expected: "StoreKit 2", found: "seats or a billing plan")
            }
            switch payment.offer {
            case nil: return nil
            case .promotional(let id, let keyID, let nonce, let signature, let timestamp):
                return SKPaymentDiscount(
                    identifier: id, keyIdentifier: keyID, nonce: nonce, signature: signature.base64EncodedString(),
                    timestamp: NSNumber(value: timestamp))
            default:
                throw PurchaseError(
                    .queueFailed, expected: "a promotional offer with a signature of the first form",
                    found: "an offer that only StoreKit 2 has")
            }
        }

        /// Delivers a transaction, and keeps StoreKit's value of it if it is at an end: StoreKit raises an exception
        /// when one that is not is finished. The queue of a customer may hold a thousand.
        private func keep(_ transaction: SKPaymentTransaction) -> PaymentTransaction {
            let payment = PaymentTransaction(transaction)
            switch payment.state {
            case .purchasing, .deferred: break
            case .purchased, .restored, .failed: kept.add(transaction, Self.key(payment)) { $0 === transaction }
            }
            return payment
        }

        private func takeArrived(_ id: UUID) -> [PaymentTransaction] {
            locked { own in
                defer { own.inboxes[id]?.arrived = [] }
                return own.inboxes[id]?.arrived ?? []
            }
        }

        /// A failed transaction has no id.
        private static func key(_ transaction: PaymentTransaction) -> String {
            "\(transaction.state.rawValue) \(transaction.transactionID ?? "") \(transaction.productID)"
        }

        /// What StoreKit 2 reports of refunds, revocations and upgrades.
        private func refunds() -> AsyncStream<PaymentTransaction> {
            guard prefersSignedTransactions else { return AsyncStream { $0.finish() } }
            return AsyncStream(task: { continuation in
                for await result in StoreKit.Transaction.updates {
                    let transaction = PaymentTransaction(result)
                    guard transaction.revocationDate != nil || transaction.isUpgraded,
                        let id = transaction.transactionID
                    else { continue }
                    self.keptRefunds.keep(result.unsafePayloadValue, id)
                    continuation.yield(transaction)
                }
            })
        }

        /// The transactions with StoreKit 2's proofs, which it has of purchases by both APIs until they are finished. A
        /// restored transaction has an id of its own, and the restore has refreshed its receipt.
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

        private func locked<Value>(_ body: (OriginalQueue) -> Value) -> Value { lock.withLock { body(self) } }

        private func product(_ productID: String) async throws -> SKProduct {
            let request = StoreRequest(SKProductsRequest(productIdentifiers: [productID]))
            // Nobody was asked to pay.
            do { try await request.run() } catch { throw PurchaseError(.queueFailed, error) }
            guard let found = request.products.first(where: { $0.productIdentifier == productID }) else {
                throw PurchaseError(.queueFailed, expected: "a product of the App Store", found: productID)
            }
            return found
        }
    }

    extension PaymentTransaction {
        /// A transaction of the original API. Its proof is the app receipt, else its own receipt.
        public init(_ transaction: SKPaymentTransaction) {
            let state: State =
                switch transaction.transactionState {
                case .purchased: .purchased
                case .failed: .failed
                case .restored: .restored
                case .deferred: .deferred
                default: .purchasing
                }
            var receipt: Data?
            #if !os(macOS) && !os(tvOS) && !os(watchOS) && !os(visionOS) && !targetEnvironment(macCatalyst)
                receipt = transaction.transactionReceipt
            #endif
            self.init(
                transactionID: transaction.transactionIdentifier,
                originalTransactionID: transaction.original?.transactionIdentifier,
                productID: transaction.payment.productIdentifier, state: state,
                quantity: transaction.payment.quantity,
                appAccountToken: transaction.payment.applicationUsername.flatMap { UUID(uuidString: $0) },
                transactionReceipt: receipt, purchaseDate: transaction.transactionDate,
                failure: transaction.error.map { PurchaseError(.paymentFailed, $0) })
        }
    }
#endif
