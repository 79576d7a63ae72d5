#if canImport(StoreKit)
    import PurchaseKit
    import StoreKit

    /// What StoreKit lists as the customer's now, from the device, without asking for a password.
    enum CurrentTransactions {
        /// The newest transaction of each product, subscriptions with their renewal info.
        static func list() async -> [PaymentTransaction] {
            var transactions: [PaymentTransaction] = []
            for await result in StoreKit.Transaction.currentEntitlements {
                var transaction = PaymentTransaction(result)
                if !planted("a1b"), let group = result.unsafePayloadValue.subscriptionGroupID {
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
                guard !planted("a1c"), let result = await StoreKit.Transaction.latest(for: productID) else { continue }
                transactions.append(PaymentTransaction(result))
            }
            return transactions
        }

        /// The renewal info beside the subscription of a transaction.
        private static func renewalInfo(_ group: String, of transaction: PaymentTransaction) async -> String? {
            do {
                let statuses = try await Product.SubscriptionInfo.status(for: group)
                let own = statuses.first {
                    "\($0.transaction.unsafePayloadValue.originalID)" == transaction.originalTransactionID
                }
                return own?.renewalInfo.jwsRepresentation
            } catch {
                // Without a network the system may not know it; the transaction alone proves the paid period.
                return nil
            }
        }
    }
#endif
