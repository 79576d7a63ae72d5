public import Foundation

/// A transaction as the payment queue reports it.
public struct PaymentTransaction: Sendable, Codable, Equatable {
    /// The id; `nil` in the states `purchasing`, `deferred` and `failed` of the original API.
    public var transactionID: String?
    /// The first transaction of a subscription or of a restored product.
    public var originalTransactionID: String?
    public var productID: String
    /// The kind of the product, where only StoreKit says it: for transactions of Xcode's store.
    public var kind: PurchaseProductKind?
    public var state: State
    public var quantity: Int
    /// The environment that its evidence states; `nil` if nothing signed names it yet.
    public var environment: String?
    /// The customer's UUID of the purchase (`appAccountToken`, or the original API's `applicationUsername`).
    public var appAccountToken: UUID?
    /// StoreKit's proof (`VerificationResult.jwsRepresentation`).
    public var signedTransaction: String?
    /// StoreKit's signed renewal info, which states a grace period; only of `PaymentQueue.current()`.
    public var signedRenewalInfo: String?
    /// Whether StoreKit verified the proof. If not, the server decides, and never the device.
    public var isVerifiedByStoreKit: Bool
    /// The transaction's own receipt (`SKPaymentTransaction.transactionReceipt`), where there is no app receipt.
    public var transactionReceipt: Data?
    public var purchaseDate: Date?
    public var expirationDate: Date?
    /// When the App Store refunded or revoked it.
    public var revocationDate: Date?
    public var isUpgraded: Bool
    /// Why it failed; only in the state `failed`.
    public var failure: PurchaseError?

    public enum State: String, Sendable, Codable {
        case purchasing
        /// It waits for an approval, such as a parent's.
        case deferred
        /// The payment failed or was cancelled. An interrupted purchase can still arrive, as another transaction.
        case failed
        case purchased
        case restored
    }

    public init(
        transactionID: String?, originalTransactionID: String? = nil, productID: String,
        kind: PurchaseProductKind? = nil, state: State = .purchased,
        quantity: Int = 1, environment: String? = nil, appAccountToken: UUID? = nil, signedTransaction: String? = nil,
        signedRenewalInfo: String? = nil, isVerifiedByStoreKit: Bool = true, transactionReceipt: Data? = nil,
        purchaseDate: Date? = nil, expirationDate: Date? = nil, revocationDate: Date? = nil, isUpgraded: Bool = false,
        failure: PurchaseError? = nil
    ) {
        (self.transactionID, self.originalTransactionID) = (transactionID, originalTransactionID)
        (self.productID, self.kind, self.state, self.quantity) = (productID, kind, state, quantity)
        (self.environment, self.appAccountToken) = (environment, appAccountToken)
        (self.signedTransaction, self.signedRenewalInfo) = (signedTransaction, signedRenewalInfo)
        (self.isVerifiedByStoreKit, self.transactionReceipt) = (isVerifiedByStoreKit, transactionReceipt)
        (self.purchaseDate, self.expirationDate, self.revocationDate) = (purchaseDate, expirationDate, revocationDate)
        (self.isUpgraded, self.failure) = (isUpgraded, failure)
    }
}

extension PaymentTransaction {
    /// Whether StoreKit's own verdict counts: in a debug build, of Xcode's store, whose certificate no app trusts.
    var isVouchedForByXcode: Bool {
        #if DEBUG
            environment == "Xcode" && isVerifiedByStoreKit && signedTransaction != nil
        #else
            false
        #endif
    }

    /// The same, delivered by a restore.
    package var asRestored: Self {
        var restored = self
        restored.state = .restored
        return restored
    }

    /// The reason why the App Store withdrew it, as StoreKit says; `nil` if it did not.
    var withdrawal: PurchaseError? {
        if revocationDate != nil { return PurchaseError(.purchaseRevoked) }
        return isUpgraded ? PurchaseError(.purchaseUpgraded) : nil
    }
}

/// Evidence is neither printed nor dumped, because such output ends up in logs.
extension PaymentTransaction: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "\(productID) \(transactionID ?? "without an id") \(state.rawValue)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["transaction": description]) }
}
