public import Foundation

// The original API (Apple, "Original API for In-App Purchase"), as far as the adapters use it. Its classes are used from several threads,
// as Apple's are; a lock guards what changes.

open class SKProduct: NSObject {
    public let productIdentifier: String

    init(_ productIdentifier: String) { self.productIdentifier = productIdentifier }
}

open class SKPayment: NSObject {
    public fileprivate(set) var productIdentifier: String
    open var quantity = 1
    open var applicationUsername: String?

    init(_ productIdentifier: String) { self.productIdentifier = productIdentifier }
}

open class SKMutablePayment: SKPayment {
    public convenience init(product: SKProduct) { self.init(product.productIdentifier) }
}

public enum SKPaymentTransactionState: Int, Sendable {
    case purchasing, purchased, failed, restored, deferred
}

open class SKPaymentTransaction: NSObject, @unchecked Sendable {
    public let payment: SKPayment
    public let transactionState: SKPaymentTransactionState
    public let transactionIdentifier: String?
    public let transactionDate: Date?
    public let original: SKPaymentTransaction?
    public let transactionReceipt: Data?
    public let error: (any Error)?

    init(
        _ payment: SKPayment, _ state: SKPaymentTransactionState, id: String? = nil, date: Date? = nil,
        original: SKPaymentTransaction? = nil, transactionReceipt: Data? = nil, error: (any Error)? = nil
    ) {
        self.payment = payment
        transactionState = state
        transactionIdentifier = id
        transactionDate = date
        self.original = original
        self.transactionReceipt = transactionReceipt
        self.error = error
    }

    convenience init(_ sold: Sold, _ state: SKPaymentTransactionState) {
        let facts = sold.transaction
        let payment = SKPayment(facts.productId)
        payment.quantity = facts.quantity
        payment.applicationUsername = facts.appAccountToken
        // A restored transaction has an id of its own; only that has an original.
        let isRestored = state == .restored
        self.init(
            payment, state, id: isRestored ? "9\(facts.transactionId)" : facts.transactionId, date: facts.purchaseDate,
            original: isRestored
                ? SKPaymentTransaction(payment, .purchased, id: facts.originalTransactionId) : nil,
            transactionReceipt: Data(base64Encoded: sold.evidence.transactionReceipt))
    }
}

public protocol SKPaymentTransactionObserver: AnyObject {
    func paymentQueue(_ queue: SKPaymentQueue, updatedTransactions transactions: [SKPaymentTransaction])
    func paymentQueueRestoreCompletedTransactionsFinished(_ queue: SKPaymentQueue)
    func paymentQueue(_ queue: SKPaymentQueue, restoreCompletedTransactionsFailedWithError error: any Error)
    func paymentQueue(
        _ queue: SKPaymentQueue, shouldAddStorePayment payment: SKPayment, for product: SKProduct
    ) -> Bool
    func paymentQueue(
        _ queue: SKPaymentQueue, didRevokeEntitlementsForProductIdentifiers productIdentifiers: [String])
}

/// A payment that did not take place.
struct PaymentCancelled: Error {}

open class SKPaymentQueue: NSObject, @unchecked Sendable {
    private let lock = NSLock()
    private var observers: [any SKPaymentTransactionObserver & Sendable] = []
    private var waiting: [SKPaymentTransaction] = []

    private static let shared = SKPaymentQueue()

    open class func `default`() -> SKPaymentQueue { shared }

    open var transactions: [SKPaymentTransaction] { lock.withLock { waiting } }

    open func add(_ observer: any SKPaymentTransactionObserver & Sendable) {
        lock.withLock { observers.append(observer) }
        let task = Task { try await self.deliverUnfinished() }
        _ = task
    }

    open func add(_ payment: SKPayment) {
        deliver([SKPaymentTransaction(payment, .purchasing)])
        let (id, quantity, username) = (payment.productIdentifier, payment.quantity, payment.applicationUsername)
        Task {
            let payment = SKPayment(id)
            payment.quantity = quantity
            do {
                let store = try StandInStore.require()
                var body: [String: Any] = store.owner
                body["product_id"] = id
                body["quantity"] = quantity
                if let username { body["app_account_token"] = username }
                let paid: SoldPayment = try await store.post("app/purchases", body)
                if let sold = paid.transaction {
                    deliver([SKPaymentTransaction(sold, .purchased)])
                } else if paid.result == "ask-to-buy" {
                    deliver([SKPaymentTransaction(payment, .deferred)])
                } else {
                    deliver([SKPaymentTransaction(payment, .failed, error: PaymentCancelled())])
                }
            } catch {
                deliver([SKPaymentTransaction(payment, .failed, error: error)])
            }
        }
    }

    open func finishTransaction(_ transaction: SKPaymentTransaction) {
        lock.withLock { waiting.removeAll { $0 === transaction } }
        guard let id = transaction.transactionIdentifier else { return }
        // What was restored is finished in the store already.
        guard transaction.transactionState != .restored else { return }
        Task { let _: Nothing = try await StandInStore.require().post("app/finish", ["transaction_id": id]) }
    }

    open func restoreCompletedTransactions() {
        Task {
            do {
                let store = try StandInStore.require()
                let queue: SoldQueue = try await store.post("app/restore", store.owner)
                deliver(queue.transactions.map { SKPaymentTransaction($0, .restored) })
                for observer in currentObservers { observer.paymentQueueRestoreCompletedTransactionsFinished(self) }
            } catch {
                for observer in currentObservers {
                    observer.paymentQueue(self, restoreCompletedTransactionsFailedWithError: error)
                }
            }
        }
    }

    /// Withdraws products, and offers one that the customer chose on the App Store; for tests.
    open func withdraw(_ productIdentifiers: [String]) {
        for observer in currentObservers {
            observer.paymentQueue(self, didRevokeEntitlementsForProductIdentifiers: productIdentifiers)
        }
    }

    open func offer(_ productIdentifier: String) -> [Bool] {
        currentObservers.map {
            $0.paymentQueue(
                self, shouldAddStorePayment: SKPayment(productIdentifier), for: SKProduct(productIdentifier))
        }
    }

    private func deliverUnfinished() async throws {
        let queue: SoldQueue = try await StandInStore.require().get("app/queue")
        deliver(queue.transactions.map { SKPaymentTransaction($0, .purchased) })
    }

    private var currentObservers: [any SKPaymentTransactionObserver & Sendable] { lock.withLock { observers } }

    private func deliver(_ transactions: [SKPaymentTransaction]) {
        lock.withLock {
            for transaction in transactions {
                let isAtEnd = transaction.transactionState != .purchasing
                waiting.removeAll {
                    isAtEnd && $0.transactionState == .purchasing
                        && $0.payment.productIdentifier == transaction.payment.productIdentifier
                }
                waiting.append(transaction)
            }
        }
        for observer in currentObservers { observer.paymentQueue(self, updatedTransactions: transactions) }
    }
}

public protocol SKRequestDelegate: AnyObject {
    func requestDidFinish(_ request: SKRequest)
    func request(_ request: SKRequest, didFailWithError error: any Error)
}

extension SKRequestDelegate {
    public func requestDidFinish(_: SKRequest) {}
}

open class SKRequest: NSObject, @unchecked Sendable {
    open weak var delegate: (any SKRequestDelegate)?

    open func start() {}
}

public protocol SKProductsRequestDelegate: SKRequestDelegate {
    func productsRequest(_ request: SKProductsRequest, didReceive response: SKProductsResponse)
}

open class SKProductsResponse: NSObject {
    public let products: [SKProduct]

    init(_ products: [SKProduct]) { self.products = products }
}

open class SKProductsRequest: SKRequest, @unchecked Sendable {
    private let identifiers: Set<String>

    public init(productIdentifiers: Set<String>) { identifiers = productIdentifiers }

    open override func start() {
        Task {
            do {
                let products = try await Product.products(for: identifiers).map { SKProduct($0.id) }
                (delegate as? any SKProductsRequestDelegate)?.productsRequest(
                    self, didReceive: SKProductsResponse(products))
                delegate?.requestDidFinish(self)
            } catch {
                delegate?.request(self, didFailWithError: error)
            }
        }
    }
}

open class SKReceiptRefreshRequest: SKRequest, @unchecked Sendable {
    public init(receiptProperties _: [String: Any]?) {}

    open override func start() {
        Task {
            do {
                try await StandInStore.require().refreshReceipt()
                delegate?.requestDidFinish(self)
            } catch {
                delegate?.request(self, didFailWithError: error)
            }
        }
    }
}
