import Foundation
import PurchaseKit

/// What the store answers. The decoder makes `transactionId` of `transaction_id`.
enum StoreAnswers {
    struct Queue: Decodable, Sendable {
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
        let appTransaction: String
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
            let offers: [Offer]?
        }

        struct Offer: Decodable, Sendable {
            let offerId: String
            let kind: String
            let mode: String
            let period: String
            let periods: Int
            let price: Int64
        }

        /// The product as a shop shows it. The store has no names, so the id is the name.
        var product: PurchaseProduct {
            PurchaseProduct(
                productID: productId, kind: productKind, name: productId, price: Self.amount(price),
                priceText: text(of: price), period: subscription.flatMap { Self.period($0.period) },
                subscriptionGroupID: subscription?.groupId,
                offers: (subscription?.offers ?? []).compactMap { offer($0) })
        }

        /// An offer as a shop shows it. The store decides who is eligible when somebody buys.
        private func offer(_ offer: Offer) -> PurchaseProductOffer? {
            let kinds: [String: PurchaseProductOffer.Kind] = [
                "introductory": .introductory, "promotional": .promotional, "win-back": .winBack,
            ]
            let payments: [String: PurchaseProductOffer.Payment] = [
                "FREE_TRIAL": .freeTrial, "PAY_AS_YOU_GO": .payAsYouGo, "PAY_UP_FRONT": .payUpFront,
            ]
            guard let kind = kinds[offer.kind], let payment = payments[offer.mode],
                let period = Self.period(offer.period)
            else { return nil }
            return PurchaseProductOffer(
                offerID: kind == .introductory ? nil : offer.offerId, kind: kind, payment: payment,
                price: Self.amount(offer.price), priceText: text(of: offer.price), period: period,
                periodCount: offer.periods)
        }

        /// A price in thousandths, rounded to two places.
        private static func amount(_ price: Int64) -> Decimal { Decimal((price + 5) / 10) / 100 }

        private func text(of price: Int64) -> String {
            let cents = (price + 5) / 10
            return "\(cents / 100).\("\(cents % 100 + 100)".dropFirst()) \(currency)"
        }

        private var productKind: PurchaseProductKind? {
            [
                "consumable": .consumable, "non-consumable": .nonConsumable, "non-renewing": .nonRenewingSubscription,
                "auto-renewable": .autoRenewableSubscription,
            ][kind]
        }

        /// An ISO 8601 duration of one unit, such as `P1M`.
        private static func period(_ text: String) -> PurchasePeriod? {
            let units: [Character?: PurchasePeriod.Unit] = ["D": .day, "W": .week, "M": .month, "Y": .year]
            guard text.hasPrefix("P"), let count = Int(text.dropFirst().dropLast()) else { return nil }
            return units[text.last].map { PurchasePeriod(count, $0) }
        }
    }

    struct Receipt: Decodable, Sendable { let appReceipt: String }

    struct Device: Decodable, Sendable {
        let deviceId: String
        let environment: String
    }

    struct Nothing: Decodable, Sendable {}
}
