public import Foundation

// The original API (Apple, "Original API for In-App Purchase"), as far as the adapters use it. Its classes are used
// from several threads, as Apple's are; a lock guards what changes.

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

open class SKPaymentDiscount: NSObject {
    public let identifier: String
    public let keyIdentifier: String
    public let nonce: UUID
    public let signature: String
    public let timestamp: NSNumber

    public init(identifier: String, keyIdentifier: String, nonce: UUID, signature: String, timestamp: NSNumber) {
        self.identifier = identifier
        self.keyIdentifier = keyIdentifier
        self.nonce = nonce
        self.signature = signature
        self.timestamp = timestamp
    }
}

open class SKMutablePayment: SKPayment {
    open var simulatesAskToBuyInSandbox = false
    open var paymentDiscount: SKPaymentDiscount?

    public convenience init(product: SKProduct) { self.init(product.productIdentifier) }
}

public enum SKPaymentTransactionState: Int, Sendable {
    case purchasing, purchased, failed, restored, deferred
}

// Apple's class is not Sendable, either.
open class SKPaymentTransaction: NSObject {
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
