public import PurchaseVerification

/// The facts of one transaction: all evidence seen so far, merged (docs/ledger.md, "Observe").
///
/// It is immutable, and a class because it is large and passed around. `merged(with:)` returns the same object if
/// nothing is new, so an unchanged receipt is recognised without comparing fields.
public final class ObservedTransaction: Sendable {
    public let key: TransactionKey
    package let fields: TransactionFields
    /// The facts in their stored form. Equal facts have equal bytes. Computed on creation, because evidence is not read
    /// on the thread that writes.
    public let encoded: [UInt8]
    /// The original transaction, which is the transaction itself if no evidence names another, and who has this copy.
    public let ownership: OwnershipKey

    package convenience init(key: TransactionKey, fields: TransactionFields) {
        self.init(key: key, fields: fields, encoded: fields.encoded)
    }

    init(key: TransactionKey, fields: TransactionFields, encoded: [UInt8]) {
        (self.key, self.fields, self.encoded) = (key, fields, encoded)
        ownership = OwnershipKey(original: fields.original(of: key), holder: fields.holder(of: key))
    }

    // MARK: Identity

    public var bundleID: ExactText? { fields.bundleID?.value }
    public var productID: ExactText? { fields.productID?.value }
    /// The kind of product: as stated, or auto-renewable if there is an expiry date, because only auto-renewable
    /// subscriptions have one.
    public var kind: ProductKind? { fields.kind?.value ?? (end == nil ? nil : .autoRenewable) }
    public var subscriptionGroupID: ExactText? { fields.subscriptionGroupID?.value }
    /// When it was bought, renewed or restored.
    public var purchaseDate: Timestamp? { fields.purchaseDate?.value }
    /// When the original transaction was bought.
    public var originalPurchaseDate: Timestamp? { fields.originalPurchaseDate?.value }
    /// More than Apple ever sells at once (ten), and small enough that the sum of all lots of a customer cannot
    /// overflow.
    package static let quantityLimit: Int64 = 1_000_000_000

    /// The quantity; 1 if no evidence states it, and at most `quantityLimit`.
    public var quantity: Int64 { min(max(0, seats?.quantity ?? fields.quantity?.value ?? 1), Self.quantityLimit) }
    /// The seats of a multiseat purchase.
    public var seats: SeatFacts? { fields.seats?.seats }
    /// The App Store's number of a period of a subscription.
    public var lineItemID: ExactText? { fields.lineItemID?.value }
    public var ownershipType: ExactText? { fields.ownershipType?.value }
    public var price: PurchasePrice? { fields.price?.value }
    public var storefront: Storefront? { fields.storefront?.value }
    public var offer: PurchaseOffer? { fields.offer?.value }
    public var reason: ExactText? { fields.reason?.value }
    public var appTransactionID: ExactText? { fields.appTransactionID?.value }
    public var productNumber: UInt64? { fields.productNumber?.value }
    /// All other claims of the newest signed data that has any, as canonical JSON.
    public var otherClaims: [UInt8]? { fields.otherClaims?.value.bytes }

    // MARK: State

    /// When the paid period ends: as the newest signed data with an end states it or, if there is none, the latest end
    /// of a receipt.
    public var end: Timestamp? { fields.signedEnd?.value ?? fields.receiptEnd }
    /// When the signed data that states the end was signed; `nil` if the end comes from a receipt.
    var endStamp: Timestamp? { fields.signedEnd?.witness.stamp }
    /// The first stated end. The App Store extends periods, but the value that identifies a period must not change.
    public var firstEnd: Timestamp? { fields.firstEnd }
    /// When the newest signed transaction was signed; `nil` if only receipts are known.
    public var newestStamp: Timestamp? { fields.revocation?.stamp }
    /// The revocation that the newest signed transaction states.
    public var signedRevocation: Revocation? { fields.revocation?.revocation }
    /// The latest cancellation date of a receipt.
    public var cancellation: Timestamp? { fields.cancellation }
    /// The latest date of a revocation or cancellation that was ever stated, also after a reversal.
    public var lastWithdrawal: Timestamp? { fields.lastWithdrawal }
    /// When it was first stated that the customer had upgraded; `nil` if newer signed data does not say so any more.
    public var upgradedAt: Timestamp? { fields.upgrade.flatMap { $0.isInForce ? $0.earliest : nil } }
    /// Whether anything ever stated that the customer had upgraded.
    var wasUpgraded: Bool { fields.upgrade != nil }
    /// When the newest signed transaction was signed, unless it is revoked.
    var cleanStamp: Timestamp? {
        fields.revocation.flatMap { $0.revocation.map { $0.share == 0 } ?? true ? $0.stamp : nil }
    }
    public var accountToken: AppAccountToken? { fields.accountToken?.token }

    // MARK: Keys

    public var original: OriginalKey { ownership.original }
    package var holder: PurchaseHolder { ownership.holder }

    /// The seats that it has left, for the purchaser of a subscription that is sold by the seat. A member's transaction
    /// repeats them.
    package var seatsOfPurchaser: Int64? { holder == .buyer ? seats?.remaining : nil }

    /// The seats that were refunded to the purchaser.
    package var refundedSeats: Int64 { holder == .buyer ? min(quantity, max(0, seats?.revoked ?? 0)) : 0 }

    /// The key of its renewal info.
    public var renewal: RenewalKey {
        let original = original
        return RenewalKey(environment: original.environment, originalTransactionID: original.transactionID)
    }
}

extension TransactionFields {
    fileprivate func original(of key: TransactionKey) -> OriginalKey {
        let transactionID = originalTransactionID?.value ?? key.transactionID
        guard key.environment == .xcode else {
            return OriginalKey(environment: key.environment, transactionID: transactionID)
        }
        let second =
            originalPurchaseDate?.value.wholeSecond ?? (transactionID == key.transactionID ? key.second : 0)
        return OriginalKey(environment: key.environment, transactionID: transactionID, second: second)
    }

    fileprivate func holder(of key: TransactionKey) -> PurchaseHolder {
        if ownershipType?.value == "FAMILY_SHARED" { return .family(appTransactionID: appTransactionID?.value) }
        guard ownershipType?.value == "ASSIGNED" else { return .buyer }
        return appTransactionID.map { .assigned(appTransactionID: $0.value) }
            ?? .assignedTransaction(key.transactionID)
    }
}

extension ObservedTransaction: Hashable {
    public static func == (left: ObservedTransaction, right: ObservedTransaction) -> Bool {
        left === right || (left.key == right.key && left.fields == right.fields)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(fields.revocation)
    }
}
