public import Foundation

/// All but the first method are optional, as Apple's are.
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

extension SKPaymentTransactionObserver {
    public func paymentQueueRestoreCompletedTransactionsFinished(_: SKPaymentQueue) {}
    public func paymentQueue(_: SKPaymentQueue, restoreCompletedTransactionsFailedWithError _: any Error) {}
    public func paymentQueue(_: SKPaymentQueue, shouldAddStorePayment _: SKPayment, for _: SKProduct) -> Bool { false }
    public func paymentQueue(_: SKPaymentQueue, didRevokeEntitlementsForProductIdentifiers _: [String]) {}
}

/// A payment that did not take place, as an `SKError`.
struct PaymentFailure: CustomNSError {
    let errorCode: Int
    static let errorDomain = "SKErrorDomain"

    /// `SKError.unknown`.
    static let unknown = PaymentFailure(errorCode: 0)
    /// `SKError.paymentCancelled`.
    static let cancelled = PaymentFailure(errorCode: 2)
}

/// The queue of the original API. Like Apple's, it is not Sendable, and does not keep its observers alive.
open class SKPaymentQueue: NSObject {
    private let queued = QueuedPayments()

    nonisolated(unsafe) private static let shared = SKPaymentQueue()

    private override init() {
        super.init()
        queued.queue = self
    }

    open class func `default`() -> SKPaymentQueue { shared }

    open var transactions: [SKPaymentTransaction] {
        queued.countRead()
        return queued.transactions
    }

    open func add(_ observer: any SKPaymentTransactionObserver) {
        queued.add(observer)
        let task = Task { [queued] in try await queued.deliverUnfinished() }
        _ = task
    }

    open func remove(_ observer: any SKPaymentTransactionObserver) { queued.remove(observer) }

    open func add(_ payment: SKPayment) {
        if let store = StandInStore.current {
            queued.deliver([SKPaymentTransaction(payment, .purchasing)], from: store)
        }
        queued.pay(
            payment.productIdentifier, payment.quantity, payment.applicationUsername,
            discount: (payment as? SKMutablePayment)?.paymentDiscount?.identifier)
    }

    open func finishTransaction(_ transaction: SKPaymentTransaction) { queued.finish(transaction) }

    open func restoreCompletedTransactions() { queued.restore() }

    // For tests.

    /// Withdraws products.
    open func withdraw(_ productIdentifiers: [String]) {
        for observer in queued.observers {
            observer.paymentQueue(self, didRevokeEntitlementsForProductIdentifiers: productIdentifiers)
        }
    }

    /// Offers a product that the customer chose on the App Store.
    open func offer(_ productIdentifier: String) -> [Bool] {
        queued.observers.map {
            $0.paymentQueue(
                self, shouldAddStorePayment: SKPayment(productIdentifier), for: SKProduct(productIdentifier))
        }
    }

    /// The observers that were not removed, also those that are gone.
    public var standInObservers: Int { queued.registered }
    /// How often an app copied all transactions.
    public var standInReads: Int { queued.reads }
    /// The identifier of the discount of the last payment.
    public var standInDiscount: String? { queued.lastDiscount }
}

/// The work of the queue.
///
/// Unchecked, because the lock guards what changes.
private final class QueuedPayments: @unchecked Sendable {
    private struct Registered { weak var observer: (any SKPaymentTransactionObserver)?; let id: ObjectIdentifier }

    private let lock = NSLock()
    private var known: [Registered] = []
    private var waiting: [SKPaymentTransaction] = []
    /// The store whose transactions wait: the queue of a process is one, and tests have a store each.
    private var address: URL?
    private var readCount = 0
    private var discount: String?
    unowned(unsafe) var queue: SKPaymentQueue?

    var observers: [any SKPaymentTransactionObserver] { lock.withLock { known.compactMap(\.observer) } }
    var registered: Int { lock.withLock { known.count } }
    var transactions: [SKPaymentTransaction] {
        let current = StandInStore.current?.address
        return lock.withLock { address == current ? waiting : [] }
    }
    var reads: Int { lock.withLock { readCount } }
    var lastDiscount: String? { lock.withLock { discount } }

    func countRead() { lock.withLock { readCount += 1 } }

    func add(_ observer: any SKPaymentTransactionObserver) {
        lock.withLock { known.append(Registered(observer: observer, id: ObjectIdentifier(observer))) }
    }

    func remove(_ observer: any SKPaymentTransactionObserver) {
        lock.withLock { known.removeAll { $0.id == ObjectIdentifier(observer) } }
    }

    func pay(_ product: String, _ quantity: Int, _ username: String?, discount: String?) {
        lock.withLock { self.discount = discount }
        guard let store = StandInStore.current else { return }
        Task {
            do {
                var body: [String: Any] = store.owner
                body["product_id"] = product
                body["quantity"] = quantity
                if let username { body["app_account_token"] = username }
                let paid: SoldPayment = try await store.post("app/purchases", body)
                if let sold = paid.transaction {
                    deliver([SKPaymentTransaction(sold, .purchased)], from: store)
                } else if paid.result == "ask-to-buy" {
                    deliver([SKPaymentTransaction(Self.payment(product, quantity, username), .deferred)], from: store)
                } else {
                    let payment = Self.payment(product, quantity, username)
                    let failure: PaymentFailure = paid.result == "cancelled" ? .cancelled : .unknown
                    deliver([SKPaymentTransaction(payment, .failed, error: failure)], from: store)
                }
            } catch {
                let payment = Self.payment(product, quantity, username)
                deliver([SKPaymentTransaction(payment, .failed, error: error)], from: store)
            }
        }
    }

    private static func payment(_ product: String, _ quantity: Int, _ username: String?) -> SKPayment {
        let payment = SKPayment(product)
        payment.quantity = quantity
        payment.applicationUsername = username
        return payment
    }

    func finish(_ transaction: SKPaymentTransaction) {
        lock.withLock { waiting.removeAll { $0 === transaction } }
        guard let id = transaction.transactionIdentifier else { return }
        // What was restored is finished in the store already.
        guard transaction.transactionState != .restored else { return }
        Task { let _: Nothing = try await StandInStore.require().post("app/finish", ["transaction_id": id]) }
    }

    func restore() {
        Task {
            do {
                let store = try StandInStore.require()
                let sold: SoldQueue = try await store.post("app/restore", store.owner)
                deliver(sold.transactions.map { SKPaymentTransaction($0, .restored) }, from: store)
                if let queue {
                    for observer in observers { observer.paymentQueueRestoreCompletedTransactionsFinished(queue) }
                }
            } catch {
                guard let queue else { return }
                for observer in observers {
                    observer.paymentQueue(queue, restoreCompletedTransactionsFailedWithError: error)
                }
            }
        }
    }

    func deliverUnfinished() async throws {
        let store = try StandInStore.require()
        let sold: SoldQueue = try await store.get("app/queue")
        deliver(sold.transactions.map { SKPaymentTransaction($0, .purchased) }, from: store)
    }

    /// Delivers transactions of the present store. Those of the store of an earlier test are dropped.
    func deliver(_ transactions: [SKPaymentTransaction], from store: StandInStore) {
        guard store.address == StandInStore.current?.address else { return }
        lock.withLock {
            if address != store.address { waiting = [] }
            address = store.address
            for transaction in transactions {
                let isAtEnd = transaction.transactionState != .purchasing
                waiting.removeAll {
                    isAtEnd && $0.transactionState == .purchasing
                        && $0.payment.productIdentifier == transaction.payment.productIdentifier
                }
                waiting.append(transaction)
            }
        }
        guard let queue else { return }
        for observer in observers { observer.paymentQueue(queue, updatedTransactions: transactions) }
    }
}
