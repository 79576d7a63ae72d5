#if canImport(StoreKit)
    import Foundation
    public import PurchaseKit
    public import StoreKit

    extension PaymentTransaction {
        /// A transaction of the original API. Its proof is the app receipt, or its own receipt if there is no app
        /// receipt.
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
