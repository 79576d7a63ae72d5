import Foundation
import PurchaseKit

/// What the store answers. The decoder makes `transactionId` of `transaction_id`.
enum StoreAnswers {
    struct Queue: Decodable, Sendable {
        /// The number of the last event.
        let last: Int
        let transactions: [Sold]
    }

    struct Payment: Decodable, Sendable {
        let result: String
        let transaction: Sold?
    }

    struct Sold: Decodable, Sendable {
        let transaction: Facts
        let evidence: Evidence

        /// The transaction as the payment queue reports it.
        var payment: PaymentTransaction {
            PaymentTransaction(
                transactionID: transaction.transactionId, originalTransactionID: transaction.originalTransactionId,
                productID: transaction.productId, quantity: transaction.quantity,
                environment: transaction.environment.capitalized,
                appAccountToken: transaction.appAccountToken.flatMap { UUID(uuidString: $0) },
                signedTransaction: evidence.signedTransaction, purchaseDate: transaction.purchaseDate,
                expirationDate: transaction.expiresDate, revocationDate: transaction.revocation?.date,
                isUpgraded: transaction.upgradeDate != nil)
        }
    }

    struct Facts: Decodable, Sendable {
        let transactionId: String
        let originalTransactionId: String
        let productId: String
        let quantity: Int
        let environment: String
        let appAccountToken: String?
        let purchaseDate: Date
        let expiresDate: Date?
        let upgradeDate: Date?
        let revocation: Revocation?
    }

    struct Revocation: Decodable, Sendable { let date: Date }

    struct Evidence: Decodable, Sendable {
        let signedTransaction: String
        let signedRenewalInfo: String?
    }

    struct Product: Decodable, Sendable {
        let productId: String
        let kind: String
        /// In thousandths of the currency.
        let price: Int64
        let currency: String
        let subscription: Terms?

        struct Terms: Decodable, Sendable {
            let groupId: String
            let period: String
        }

        /// The product as a shop shows it. The store has no names, so the id is the name.
        var product: PurchaseProduct {
            let cents = (price + 5) / 10
            let fraction = "\(cents % 100 + 100)".dropFirst()
            return PurchaseProduct(
                productID: productId, kind: productKind, name: productId,
                price: Decimal(string: "\(cents / 100).\(fraction)") ?? 0,
                priceText: "\(cents / 100).\(fraction) \(currency)",
                period: subscription.flatMap { Self.period($0.period) }, subscriptionGroupID: subscription?.groupId)
        }

        private var productKind: PurchaseProductKind? {
            switch kind {
            case "consumable": .consumable
            case "non-consumable": .nonConsumable
            case "non-renewing": .nonRenewingSubscription
            case "auto-renewable": .autoRenewableSubscription
            default: nil
            }
        }

        /// An ISO 8601 duration of one unit, such as `P1M`.
        private static func period(_ text: String) -> PurchasePeriod? {
            guard text.hasPrefix("P"), let count = Int(text.dropFirst().dropLast()) else { return nil }
            switch text.last {
            case "D": return PurchasePeriod(count, .day)
            case "W": return PurchasePeriod(count, .week)
            case "M": return PurchasePeriod(count, .month)
            case "Y": return PurchasePeriod(count, .year)
            default: return nil
            }
        }
    }

    struct Receipt: Decodable, Sendable { let appReceipt: String }

    struct Device: Decodable, Sendable {
        let deviceId: String
        let environment: String
    }

    struct Nothing: Decodable, Sendable {}
}
