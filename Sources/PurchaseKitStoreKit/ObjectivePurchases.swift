#if canImport(StoreKit) && canImport(ObjectiveC)
    public import Foundation
    public import PurchaseKit

    /// Tells an app in Objective-C what happened to its purchases, on the main thread.
    @objc(ASYPurchasesDelegate)
    public protocol ObjectivePurchasesDelegate: NSObjectProtocol {
        /// A purchase that the customer began has an outcome. `pending` comes first, and the outcome follows when the
        /// queue has brought the transaction.
        ///
        /// - Parameters:
        ///   - productID: the product.
        ///   - isGranted: whether the customer has it.
        ///   - code: `granted`, `pending`, `cancelled`, or the code of the reason.
        @objc(purchasesDidBuyProduct:isGranted:code:)
        func purchasesDidBuy(_ productID: String, isGranted: Bool, code: String)
        @objc optional func purchasesDidChange()
        /// A restore has ended; without an error it took place.
        @objc(purchasesDidRestoreCount:error:)
        optional func purchasesDidRestore(_ count: Int, error: (any Error)?)
    }

    /// Purchases for apps in Objective-C: buy, restore, what is active, balances, and a delegate.
    @objc(ASYPurchases)
    @MainActor
    public final class ObjectivePurchases: NSObject {
        private let model: PurchaseModel
        private var following: Task<Void, Never>?

        @objc public weak var delegate: (any ObjectivePurchasesDelegate)?

        /// Purchases that the device verifies alone.
        ///
        /// - Parameter bundleID: the bundle id, as a literal.
        @objc(initWithBundleID:)
        public convenience init(bundleID: String) { self.init(bundleID: bundleID, server: nil) }

        /// Purchases that a server verifies.
        ///
        /// - Parameters:
        ///   - bundleID: the bundle id, as a literal.
        ///   - server: the address of the purchase server.
        ///   - key: an API key with the scope `client`.
        ///   - answerKey: the public key of the server's answers, in base64.
        ///   - nextAnswerKey: the key that will follow it.
        @objc(initWithBundleID:server:key:answerKey:nextAnswerKey:error:)
        public convenience init(
            bundleID: String, server: URL, key: String, answerKey: String, nextAnswerKey: String?
        ) throws {
            self.init(
                bundleID: bundleID,
                server: PurchaseConnection(
                    service: HTTPPurchaseService(server: server), key: key,
                    answerKeys: try AnswerKeys(current: answerKey, next: nextAnswerKey)))
        }

        /// The same engine as an app in Swift has.
        public init(_ engine: PurchaseEngine) {
            model = PurchaseModel(engine)
            super.init()
            model.onOutcome = { [weak self] productID, outcome in
                self?.delegate?.purchasesDidBuy(productID, isGranted: outcome.isGranted, code: outcome.code)
            }
            following = Task { [weak self] in
                for await _ in engine.entitlementUpdates() { self?.delegate?.purchasesDidChange?() }
            }
        }

        private convenience init(bundleID: String, server: PurchaseConnection?) {
            self.init(PurchaseEngine(bundleID: bundleID, queue: OriginalQueue(), server: server))
        }

        deinit { following?.cancel() }

        /// Sets the customer who receives purchases. `nil` signs out.
        @objc(signInCustomer:appAccountToken:)
        public func signIn(_ customerID: String?, appAccountToken: UUID?) {
            let engine = model.engine
            Task {
                if let customerID {
                    await engine.signIn(PurchaseCustomer(id: customerID, appAccountToken: appAccountToken))
                } else {
                    await engine.signOut()
                }
            }
        }

        /// Asks the customer to pay; the delegate is told of the outcome.
        @objc(buyProduct:quantity:)
        public func buy(_ productID: String, quantity: Int) {
            Task { await model.buy(productID, quantity: quantity) }
        }

        /// Restores earlier purchases; the delegate is told of the end. It may ask for a password.
        @objc
        public func restore() {
            Task {
                await model.restore()
                delegate?.purchasesDidRestore?(model.restored?.granted.count ?? 0, error: model.restored?.error)
            }
        }

        @objc(isProductActive:)
        public func isActive(_ productID: String) -> Bool { model.isActive(productID) }

        @objc(balanceOfProduct:)
        public func balance(_ productID: String) -> Int64 { model.balance(productID) }
    }
#endif
