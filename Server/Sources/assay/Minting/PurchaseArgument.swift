import ArgumentParser
import EvidenceMint
import Foundation
import PurchaseVerification

/// A purchase as `assay mint --purchase` takes it: `product=ID,kind=subscription,transaction=1000`.
struct PurchaseArgument {
    private let values: [String: String]
    private static let keys: Set = [
        "product", "kind", "transaction", "original", "quantity", "purchased", "expires", "cancelled",
    ]

    init(_ text: String) throws {
        var values: [String: String] = [:]
        for part in text.split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard let key = pair.first, pair.count == 2, Self.keys.contains(key) else {
                throw ValidationError(
                    "'\(part)' is not one of \(Self.keys.sorted().joined(separator: ", ")) with a value.")
            }
            values[key] = pair[1]
        }
        guard values["product"] != nil else { throw ValidationError("A purchase needs a product: 'product=ID'.") }
        self.values = values
    }

    /// The purchase; missing values are derived from its number.
    func template(number: Int, created: Date) throws -> PurchaseTemplate {
        let product = values["product"] ?? ""
        let transaction = values["transaction"] ?? "\(1_000_000_000_000_000 + number)"
        let purchased = try date("purchased") ?? created
        var purchase: PurchaseTemplate
        switch (values["kind"] ?? "consumable").replacing("_", with: "-") {
        case "consumable":
            purchase = .consumable(productID: product, transactionID: transaction, purchaseDate: purchased)
        case "non-consumable":
            purchase = .nonConsumable(productID: product, transactionID: transaction, purchaseDate: purchased)
        case "non-renewing":
            purchase = .nonRenewingSubscription(
                productID: product, transactionID: transaction, purchaseDate: purchased)
        case "subscription", "auto-renewable":
            purchase = .subscription(
                productID: product, transactionID: transaction, originalTransactionID: values["original"],
                purchaseDate: purchased, expiresDate: try date("expires") ?? purchased.addingTimeInterval(30 * 86_400))
        case let other:
            throw ValidationError(
                "'\(other)' is not a kind of product; choose consumable, non-consumable, non-renewing or auto-renewable."
            )
        }
        if let original = values["original"] { purchase.originalTransactionID = original }
        if let expires = try date("expires") { purchase.expiresDate = expires }
        if let cancelled = try date("cancelled") { purchase.cancellationDate = cancelled }
        if let quantity = values["quantity"] {
            guard let quantity = UInt64(quantity) else { throw ValidationError("'\(quantity)' is not a quantity.") }
            purchase.quantity = quantity
        }
        return purchase
    }

    private func date(_ key: String) throws -> Date? {
        guard let text = values[key] else { return nil }
        guard let moment = AppStoreTime(text) else {
            throw ValidationError("'\(text)' is not a time such as 2026-01-31T12:00:00Z.")
        }
        return moment.date
    }
}
