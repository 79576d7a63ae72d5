public import PurchaseVerification

/// A purchase that the App Store signed. It can only be made from what the verifier vouches for.
public struct ProvenPurchase: Sendable, Equatable {
    /// Where it was made.
    public let environment: AppStoreEnvironment
    /// The transaction.
    public let transactionID: String
    /// The first transaction of a subscription or of a restored product; for all others the transaction itself.
    public let originalTransactionID: String
    /// The product.
    public let productID: String
    /// What kind of product it is, if the evidence says so.
    public let productKind: ProductKind?
    /// How many.
    public let quantity: Int64
    /// When it was bought, renewed or restored.
    public let purchaseDate: Timestamp
    /// When it was first bought, before it was renewed or restored.
    public let originalPurchaseDate: Timestamp?
    /// When the paid period ends.
    public let expiresDate: Timestamp?
    /// The App Store's number of the period of a subscription, which copies of it keep; it never stands for two periods.
    public let webOrderLineItemID: String?
    /// How and when the App Store took it back.
    public let withdrawal: Withdrawal?
    /// The token that the app bound to the purchase.
    public let appAccountToken: String?
    /// Whether it comes through Family Sharing.
    public let isFamilyShared: Bool

    /// The App Store took a purchase back.
    public struct Withdrawal: Sendable, Equatable {
        /// In which way.
        public let kind: WithdrawalKind
        /// When.
        public let date: Timestamp
    }

    /// The purchases of an app receipt.
    ///
    /// - Throws: `attribute_missing` if the receipt does not say where it was made.
    public static func purchases(of receipt: AppReceipt) throws(VerificationError) -> [ProvenPurchase] {
        guard let environment = receipt.environment else {
            throw VerificationError(.attributeMissing, expected: "a receipt type (attribute 0)")
        }
        return receipt.inAppPurchases.map { ProvenPurchase($0, of: receipt, in: environment) }
    }

    /// The purchases that verified evidence proves; `nil` if it is of a kind that proves none.
    ///
    /// - Throws: `attribute_missing` if it does not say where, or of what, a purchase was made.
    public static func purchases(of evidence: VerifiedEvidence) throws(VerificationError) -> [ProvenPurchase]? {
        switch evidence {
        case .appReceipt(let receipt): try purchases(of: receipt)
        case .transactionReceipt(let receipt): [try ProvenPurchase(receipt)]
        case .signedTransaction(let transaction): [try ProvenPurchase(transaction)]
        case .signedRenewalInfo, .appTransaction, .notification: nil
        }
    }

    /// The purchase of a transaction receipt.
    ///
    /// - Throws: `attribute_missing` if it does not say where it was made.
    public init(_ receipt: TransactionReceipt) throws(VerificationError) {
        guard let environment = receipt.environment else {
            throw VerificationError(.attributeMissing, expected: "an environment")
        }
        self.environment = environment
        transactionID = receipt.transactionID
        originalTransactionID = receipt.originalTransactionID ?? receipt.transactionID
        productID = receipt.productID
        productKind = receipt.expiresDate.map { _ in .autoRenewable }
        quantity = receipt.quantity.map { Int64(clamping: $0) } ?? 1
        purchaseDate = receipt.purchaseDate
        originalPurchaseDate = receipt.originalPurchaseDate
        expiresDate = receipt.expiresDate
        webOrderLineItemID = receipt.webOrderLineItemID.flatMap(Self.number)
        withdrawal = receipt.cancellationDate.map { Withdrawal(kind: .cancelled, date: $0) }
        appAccountToken = nil
        isFamilyShared = receipt.ownershipType == "FAMILY_SHARED"
    }

    /// The purchase of a signed transaction.
    ///
    /// - Throws: `attribute_missing` if it names no transaction, product or date.
    public init(_ transaction: SignedTransaction) throws(VerificationError) {
        guard let transactionID = transaction.transactionID else {
            throw VerificationError(.attributeMissing, expected: "transactionId")
        }
        guard let productID = transaction.productID else {
            throw VerificationError(.attributeMissing, expected: "productId")
        }
        guard let purchaseDate = transaction.purchaseDate else {
            throw VerificationError(.attributeMissing, expected: "purchaseDate")
        }
        environment = transaction.environment
        self.transactionID = transactionID
        originalTransactionID = transaction.originalTransactionID ?? transactionID
        self.productID = productID
        productKind = transaction.type.flatMap(ProductKind.init) ?? transaction.expiresDate.map { _ in .autoRenewable }
        quantity = transaction.quantity ?? 1
        self.purchaseDate = purchaseDate
        originalPurchaseDate = transaction.originalPurchaseDate
        expiresDate = transaction.expiresDate
        webOrderLineItemID = transaction.webOrderLineItemID.flatMap(Self.number)
        withdrawal =
            if let date = transaction.revocationDate {
                Withdrawal(kind: .revoked, date: date)
            } else if transaction.isUpgraded == true {
                // It does not say when; it was so when it was signed.
                Withdrawal(kind: .upgraded, date: transaction.signedDate ?? purchaseDate)
            } else {
                nil
            }
        appAccountToken = transaction.appAccountToken
        isFamilyShared = transaction.inAppOwnershipType == .familyShared
    }

    /// Purchases without a period have no number, or 0.
    private static func number(_ text: String) -> String? { text.isEmpty || text == "0" ? nil : text }

    /// Whether its names are such as the ledger keeps. The App Store's are digits and the ids that developers choose.
    var hasIdentifiers: Bool {
        [transactionID, originalTransactionID, productID].allSatisfy(LedgerText.isIdentifier)
            && webOrderLineItemID.map(LedgerText.isIdentifier) ?? true
    }

    private init(_ purchase: InAppPurchase, of receipt: AppReceipt, in environment: AppStoreEnvironment) {
        self.environment = environment
        transactionID = purchase.transactionID
        originalTransactionID = purchase.originalTransactionID ?? purchase.transactionID
        productID = purchase.productID
        expiresDate = purchase.expiresDate
        webOrderLineItemID = purchase.webOrderLineItemID.map { "\($0)" }.flatMap(Self.number)
        productKind = purchase.productType.flatMap(ProductKind.init) ?? purchase.expiresDate.map { _ in .autoRenewable }
        quantity = purchase.quantity.map { Int64(clamping: $0) } ?? 1
        // Every receipt of the App Store has the date; one without it is as old as the receipt.
        purchaseDate =
            purchase.purchaseDate ?? purchase.originalPurchaseDate ?? receipt.creationDate
            ?? Timestamp(millisecondsSince1970: 0)
        originalPurchaseDate = purchase.originalPurchaseDate
        withdrawal = purchase.cancellationDate.map { Withdrawal(kind: .cancelled, date: $0) }
        appAccountToken = nil
        isFamilyShared = purchase.ownershipType == .familyShared
    }
}

/// In which way the App Store took a purchase back.
public enum WithdrawalKind: String, Sendable, CaseIterable {
    /// A receipt has a cancellation date: the customer was refunded, or the subscription upgraded.
    case cancelled
    /// A signed transaction has a revocation date: refunded, or no longer shared by the family.
    case revoked
    /// A signed transaction says that the customer upgraded to another subscription.
    case upgraded
}

extension ProductKind {
    /// The kind that a signed transaction names, if it is a known one.
    fileprivate init?(_ type: TransactionType) {
        switch type {
        case .nonConsumable: self = .nonConsumable
        case .consumable: self = .consumable
        case .nonRenewingSubscription: self = .nonRenewing
        case .autoRenewableSubscription: self = .autoRenewable
        default: return nil
        }
    }

    /// The kind that attribute 1707 numbers, if it has a known meaning.
    fileprivate init?(_ type: ProductType) {
        switch type {
        case .nonConsumable: self = .nonConsumable
        case .consumable: self = .consumable
        case .nonRenewingSubscription: self = .nonRenewing
        case .autoRenewableSubscription, .freeSubscription: self = .autoRenewable
        case .other: return nil
        }
    }
}
