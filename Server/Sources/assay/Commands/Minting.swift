import ArgumentParser
import EvidenceMint
import Foundation
import PurchaseVerification

/// The kinds of evidence that `assay mint` makes.
enum MintKind: String, CaseIterable, ExpressibleByArgument {
    case sandbox, production, vpp, mac, xcode
    case transactionV2 = "transaction-v2"
    case transactionV3 = "transaction-v3"
    case transactionV4 = "transaction-v4"
    case signedTransaction = "signed-transaction"
    case renewalInfo = "renewal-info"
    case appTransaction = "app-transaction"
    case notification

    /// The form that the evidence has.
    var form: Form {
        switch self {
        case .sandbox, .production, .vpp, .mac, .xcode: .appReceipt
        case .transactionV2: .transactionReceipt(.two)
        case .transactionV3: .transactionReceipt(.three)
        case .transactionV4: .transactionReceipt(.four)
        case .signedTransaction, .renewalInfo, .appTransaction, .notification: .signedPayload
        }
    }

    enum Form {
        case appReceipt, transactionReceipt(EvidenceMint.TransactionReceiptVersion), signedPayload
    }

    /// The names of the faults that it can have; Xcode's receipts can have none.
    var faults: [String] {
        switch self {
        case .xcode: []
        case .sandbox, .production, .vpp, .mac: ReceiptFault.allCases.map(\.rawValue)
        case .transactionV2, .transactionV3, .transactionV4: TransactionReceiptFault.allCases.map(\.rawValue)
        case .signedTransaction: SignedPayloadFault.applicable(to: Self.sample).map(\.rawValue)
        case .renewalInfo:
            SignedPayloadFault.applicable(to: RenewalInfoTemplate(transaction: Self.sample)).map(\.rawValue)
        case .appTransaction:
            SignedPayloadFault.applicable(to: AppTransactionTemplate(bundleID: "a", creationDate: .distantPast))
                .map(\.rawValue)
        case .notification:
            SignedPayloadFault.applicable(to: NotificationTemplate(notificationType: "TEST", transaction: Self.sample))
                .map(\.rawValue)
        }
    }

    /// Any transaction: whether a fault applies depends on which claims exist, not on their values.
    private static let sample = SignedTransactionTemplate(
        purchase: .consumable(productID: "a", transactionID: "1", purchaseDate: .distantPast), bundleID: "a")
}

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

/// The forms of one purchase that `assay mint` makes, except the app receipt.
struct PurchaseMint {
    let purchase: PurchaseTemplate
    let bundleID: String
    let appVersion: String
    let environment: String
    let created: Date
    let deviceID: UUID?
    var notificationType: String?
    var subtype: String?

    /// The property list.
    func transactionReceipt(
        _ version: EvidenceMint.TransactionReceiptVersion, fault: TransactionReceiptFault?, authority: AppStoreAuthority
    ) throws -> [UInt8] {
        let template = TransactionReceiptTemplate(
            purchase: purchase, bundleID: bundleID, bundleVersion: appVersion, environment: environment,
            vendorIdentifier: deviceID)
        return try TransactionReceiptEncoder(authority: authority).encode(template, version: version, fault: fault)
    }

    /// The compact JWS of the store.
    func signedPayload(_ kind: MintKind, fault: SignedPayloadFault?, authority: AppStoreAuthority) throws -> String {
        let encoder = SignedPayloadEncoder(authority: authority)
        switch kind {
        case .renewalInfo: return try encoder.encode(renewalInfo, fault: fault)
        case .appTransaction: return try encoder.encode(appTransaction, fault: fault)
        case .notification: return try encoder.encode(notification, fault: fault)
        default: return try encoder.encode(transaction, fault: fault)
        }
    }

    /// The compact JWS of Xcode.
    func signedPayload(_ kind: MintKind, signer: XcodeSigner) throws -> String {
        switch kind {
        case .renewalInfo: try signer.encode(renewalInfo.asXcodeWritesIt)
        case .appTransaction: try signer.encode(appTransaction.asXcodeWritesIt)
        default: try signer.encode(transaction.asXcodeWritesIt)
        }
    }

    private var transaction: SignedTransactionTemplate {
        SignedTransactionTemplate(
            purchase: purchase, bundleID: bundleID, environment: environment, signedDate: created, deviceID: deviceID)
    }

    private var renewalInfo: RenewalInfoTemplate {
        RenewalInfoTemplate(transaction: transaction)
    }

    private var appTransaction: AppTransactionTemplate {
        AppTransactionTemplate(
            bundleID: bundleID, creationDate: created, environment: environment, applicationVersion: appVersion,
            deviceID: deviceID)
    }

    private var notification: NotificationTemplate {
        let isSubscription = purchase.productType == .autoRenewableSubscription
        return NotificationTemplate(
            notificationType: notificationType ?? (isSubscription ? "SUBSCRIBED" : "ONE_TIME_CHARGE"),
            subtype: subtype ?? (isSubscription && notificationType == nil ? "INITIAL_BUY" : nil),
            transaction: transaction,
            renewalInfo: isSubscription ? renewalInfo : nil,
            bundleVersion: appVersion)
    }
}
