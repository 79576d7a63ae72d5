#if canImport(StoreKit)
    import Foundation
    import PurchaseKit
    import StoreKit

    /// What StoreKit lists as the customer's now, from the device, without asking for a password.
    enum CurrentTransactions {
        /// The newest transaction of each product, subscriptions with their renewal info.
        static func list() async -> [PaymentTransaction] {
            var transactions: [PaymentTransaction] = []
            for await result in StoreKit.Transaction.currentEntitlements {
                var transaction = PaymentTransaction(result)
                if let group = result.unsafePayloadValue.subscriptionGroupID {
                    transaction.signedRenewalInfo = await renewalInfo(group, of: transaction)
                }
                transactions.append(transaction)
            }
            return transactions
        }

        /// The newest transaction of each of these products, also one that was refunded or revoked.
        static func latest(_ productIDs: [String]) async -> [PaymentTransaction] {
            var transactions: [PaymentTransaction] = []
            for productID in productIDs {
                if let result = await StoreKit.Transaction.latest(for: productID) {
                    transactions.append(PaymentTransaction(result))
                }
            }
            return transactions
        }

        /// The signed app transaction; `nil` if there is none, without which a restore goes on.
        ///
        /// - Parameter refreshes: whether the App Store signs a new one, while the customer waits.
        static func appTransaction(refreshes: Bool) async -> String? {
            guard #available(iOS 16, macOS 13, tvOS 16, watchOS 9, *) else { return nil }
            if refreshes { return try? await StoreKit.AppTransaction.refresh().jwsRepresentation }
            return await TimeLimit.value(within: AppEnvironment.longestWait) {
                try await StoreKit.AppTransaction.shared.jwsRepresentation
            }
        }

        /// A value at each change of a subscription's state.
        static func statusChanges() -> AsyncStream<Void> {
            AsyncStream(
                .bufferingNewest(1),
                task: { continuation in
                    for await _ in Product.SubscriptionInfo.Status.updates { continuation.yield() }
                })
        }

        /// The renewal info beside the subscription of a transaction.
        private static func renewalInfo(_ group: String, of transaction: PaymentTransaction) async -> String? {
            // Without a network the system may not know it; the transaction alone proves the paid period.
            let statuses = try? await Product.SubscriptionInfo.status(for: group)
            let own = statuses?.first {
                "\($0.transaction.unsafePayloadValue.originalID)" == transaction.originalTransactionID
            }
            return own?.renewalInfo.jwsRepresentation
        }
    }

    /// StoreKit's values of the transactions that were delivered and not finished, by a key, so that `finish` need not
    /// search for them.
    ///
    /// Unchecked, because the lock guards the values.
    final class KeptTransactions<Value>: @unchecked Sendable {
        private let lock = NSLock()
        private var values: [String: [Value]] = [:]

        /// Keeps the newest value of a transaction.
        func keep(_ value: Value, _ key: String) { lock.withLock { values[key] = [value] } }

        /// Keeps a value beside others with the same key: failed payments have no id.
        func add(_ value: Value, _ key: String, where isSame: (Value) -> Bool) {
            lock.withLock { values[key] = (values[key] ?? []).filter { !isSame($0) } + [value] }
        }

        /// Removes the values of a key, and returns them.
        func remove(_ key: String) -> [Value] { lock.withLock { values.removeValue(forKey: key) ?? [] } }

        /// The number of keys, for tests.
        var count: Int { lock.withLock { values.count } }
    }
#endif
