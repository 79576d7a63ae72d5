public import PurchaseVerification

/// The statement of one piece of verified evidence about one transaction. A field that the evidence does not state is
/// `nil`.
public struct TransactionStatement: Sendable, Equatable {
    public var key: TransactionKey
    /// The kind of evidence.
    public var source: EvidenceSource
    /// The signing date: `signedDate` or, if it is absent, the latest of the dates of purchase, original purchase and
    /// revocation. Only signed data uses it.
    public var stamp: Timestamp

    // MARK: Identity

    public var bundleID: ExactText?
    public var originalTransactionID: ExactText?
    public var productID: ExactText?
    public var kind: ProductKind?
    public var subscriptionGroupID: ExactText?
    public var purchaseDate: Timestamp?
    public var originalPurchaseDate: Timestamp?
    public var quantity: Int64?
    /// `webOrderLineItemId`, the number of a period, which restored copies of the period keep.
    public var lineItemID: ExactText?
    /// `PURCHASED`, `FAMILY_SHARED` or `ASSIGNED`.
    public var ownershipType: ExactText?
    public var price: PurchasePrice?
    public var storefront: Storefront?
    public var offer: PurchaseOffer?
    /// `transactionReason`: `PURCHASE` or `RENEWAL`.
    public var reason: ExactText?
    /// The customer's download of the app.
    public var appTransactionID: ExactText?
    /// The App Store's number of the product.
    public var productNumber: UInt64?
    /// Every other signed claim, as canonical JSON.
    public var otherClaims: [UInt8]?

    // MARK: State

    /// When the paid period ends.
    public var end: Timestamp?
    /// The revocation in a signed transaction; `nil` in a signed transaction means that it is not revoked.
    public var revocation: Revocation?
    /// The cancellation date of a receipt.
    public var cancellation: Timestamp?
    /// Whether a signed transaction states that the customer upgraded, or the cancellation of a receipt is an upgrade.
    public var isUpgraded = false
    public var accountToken: AppAccountToken?
    /// The seats of a multiseat purchase; then `quantity` is not stated.
    public var seats: SeatFacts?

    /// Creates an empty statement.
    public init(key: TransactionKey, source: EvidenceSource, stamp: Timestamp) {
        self.key = key
        self.source = source
        self.stamp = stamp
    }
}

extension [TransactionStatement] {
    /// The statements of one receipt, or of one answer of `verifyReceipt`. The cancellation of a period is an upgrade
    /// if a period of another product of the same original begins with it, to the minute.
    package var markingUpgrades: Self {
        guard contains(where: { $0.cancellation != nil && $0.end != nil }) else { return self }
        let periods = Dictionary(grouping: filter { $0.end != nil }, by: \.originalTransactionID)
        return map { statement in
            guard let cancellation = statement.cancellation, statement.end != nil, statement.productID != nil else {
                return statement
            }
            var statement = statement
            statement.isUpgraded =
                statement.isUpgraded
                || periods[statement.originalTransactionID, default: []].contains {
                    $0.productID != statement.productID && $0.productID != nil
                        && $0.purchaseDate.map(cancellation.isWithinMinute(of:)) ?? false
                }
            return statement
        }
    }
}

extension Timestamp {
    /// Whether it is at most a minute from another time: the App Store states the end of a period by an upgrade, and
    /// the start of the next one, in different precision.
    func isWithinMinute(of other: Timestamp) -> Bool {
        let distance = millisecondsSince1970.subtractingReportingOverflow(other.millisecondsSince1970)
        return !distance.overflow && distance.partialValue.magnitude <= 60_000
    }
}

/// The status of a subscription that a notification states.
public struct StatusStatement: Sendable, Equatable {
    /// The subscription.
    public var key: RenewalKey
    /// Whose copies of the subscription it is about.
    public var holder: PurchaseHolder
    public var status: SignedStatus

    /// Creates a statement.
    public init(key: RenewalKey, holder: PurchaseHolder, status: SignedStatus) {
        self.key = key
        self.holder = holder
        self.status = status
    }
}

/// The newest status of a subscription that signed data states.
public struct SignedStatus: Sendable, Hashable {
    /// 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked.
    public var value: Int64
    /// When it was signed.
    public var stamp: Timestamp

    /// The status in a grace period.
    package static let inGrace: Int64 = 4
    /// The status of revoked subscriptions.
    package static let revoked: Int64 = 5

    /// Whether the subscription was revoked.
    package var isRevoked: Bool { value == Self.revoked }

    /// A status with its stamp.
    public init(value: Int64, stamp: Timestamp) {
        self.value = value
        self.stamp = stamp
    }

    /// The later stamp; if equal, revoked before any other, then the greater value.
    public static func newer(_ left: SignedStatus, _ right: SignedStatus) -> SignedStatus {
        let keys = [left, right].map { ($0.stamp, $0.value == revoked ? 1 : 0, $0.value) }
        return keys[0] < keys[1] ? right : left
    }
}

extension SignedStatus: CanonicalValue {
    package init(from reader: inout CanonicalReader) throws(FactsDecodingError) {
        value = try reader.signed()
        stamp = try reader.moment()
    }

    package func encode(to writer: inout CanonicalWriter) {
        writer.write(signed: value)
        writer.write(stamp)
    }
}
