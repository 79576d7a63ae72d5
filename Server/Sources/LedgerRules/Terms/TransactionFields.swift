public import PurchaseVerification

/// The fields of `ObservedTransaction`, with the witnesses that the merge compares.
package struct TransactionFields: Sendable, Hashable {
    var bundleID: Witnessed<ExactText>?
    var originalTransactionID: Witnessed<ExactText>?
    var productID: Witnessed<ExactText>?
    var kind: Witnessed<ProductKind>?
    var subscriptionGroupID: Witnessed<ExactText>?
    var purchaseDate: Witnessed<Timestamp>?
    var originalPurchaseDate: Witnessed<Timestamp>?
    var quantity: Witnessed<Int64>?
    var lineItemID: Witnessed<ExactText>?
    var ownershipType: Witnessed<ExactText>?
    var price: Witnessed<PurchasePrice>?
    var storefront: Witnessed<Storefront>?
    var offer: Witnessed<PurchaseOffer>?
    var reason: Witnessed<ExactText>?
    var appTransactionID: Witnessed<ExactText>?
    var productNumber: Witnessed<UInt64>?
    var otherClaims: Witnessed<CanonicalBytes>?
    /// The latest end of a receipt.
    var receiptEnd: Timestamp?
    /// The end in the newest signed data that has one.
    var signedEnd: Witnessed<Timestamp>?
    var firstEnd: Timestamp?
    var revocation: StampedRevocation?
    package var cancellation: Timestamp?
    var upgrade: StampedUpgrade?
    package var accountToken: StampedToken?
    /// The latest date of a revocation or cancellation that was ever stated; at least that of the current ones.
    package var lastWithdrawal: Timestamp?
    var seats: StampedSeats?

    /// The latest date of the current revocation and cancellation. A revocation of nothing has none.
    var currentWithdrawalDate: Timestamp? {
        let revoked = revocation?.revocation.flatMap { $0.share > 0 ? $0.date : nil }
        return [revoked, cancellation].compactMap(\.self).max()
    }

    package init() {}
}

/// A fact with its witness.
struct Witnessed<Value: CanonicalValue>: Sendable, Hashable {
    let value: Value
    let witness: Witness
}

/// The evidence of a fact, as far as the merge compares evidence: signed transactions take precedence over app
/// receipts, these over transaction receipts, and later signed data over earlier.
public struct Witness: Sendable, Hashable, Comparable {
    /// When it was signed; 1970 for receipts, whose dates do not count.
    public let stamp: Timestamp
    /// The kind of evidence.
    public let source: EvidenceSource

    /// Creates a witness; the stamp of receipts is ignored.
    public init(source: EvidenceSource, stamp: Timestamp) {
        self.source = source
        self.stamp = source == .signedData ? stamp : .epoch
    }

    public static func < (left: Witness, right: Witness) -> Bool {
        left.source == right.source ? left.stamp < right.stamp : left.source < right.source
    }
}

extension Timestamp {
    /// 1970-01-01T00:00:00Z.
    package static let epoch = Timestamp(millisecondsSince1970: 0)

    /// The years 0 to 9999, which evidence can state, with a day on each side for time zones, in milliseconds
    /// since 1970.
    static let storable: ClosedRange<Int64> = -62_167_305_600_000...253_402_387_199_999
    /// Stands for an end that is not known.
    package static let latestStorable = Timestamp(millisecondsSince1970: storable.upperBound)
}

/// The kind of evidence behind a statement, ordered by precedence.
///
/// The raw values are stored. 0 is reserved for unsigned answers (hints), which rank below everything signed.
public enum EvidenceSource: UInt8, Sendable, Hashable, CaseIterable, Comparable {
    case transactionReceipt = 1
    case appReceipt = 2
    /// A signed transaction or signed renewal info, including those in a notification.
    case signedData = 3

    public static func < (left: EvidenceSource, right: EvidenceSource) -> Bool { left.rawValue < right.rawValue }
}

/// The revocation of a transaction, as stated by one signed transaction. The four claims belong together and are merged
/// as one value.
public struct Revocation: Sendable, Hashable {
    /// `revocationDate`.
    public var date: Timestamp
    /// `revocationReason`: 1 for an issue in the app, 0 for any other reason.
    public var reason: Int64?
    /// `revocationType`, such as `REFUND_PRORATED`.
    public var type: ExactText?
    /// `revocationPercentage` in milliunits of the whole quantity, for all refunds of the transaction together: 100,000
    /// is everything. If it is absent, everything is revoked.
    public var percentage: Int64?

    /// Creates a revocation from its claims.
    public init(date: Timestamp, reason: Int64? = nil, type: ExactText? = nil, percentage: Int64? = nil) {
        self.date = date
        self.reason = reason
        self.type = type
        self.percentage = percentage
    }

    /// The type of a revocation that ends a share of a family.
    package static let familyRevoke: ExactText = "FAMILY_REVOKE"

    /// The percentage of a full refund.
    public static let whole: Int64 = 100_000

    /// The withdrawn share of the quantity, in milliunits from 0 to 100,000; everything if it is not stated.
    package var share: Int64 { min(max(0, percentage ?? Self.whole), Self.whole) }
}

/// The revocation in the newest signed transaction; `nil` inside means not revoked.
struct StampedRevocation: Sendable, Hashable {
    var stamp: Timestamp
    var revocation: Revocation?
}

/// When signed transactions said that the customer had upgraded, and when they did not. What a receipt says of an
/// upgrade is as old as its cancellation.
struct StampedUpgrade: Sendable, Hashable {
    /// The earliest with the flag.
    var earliest: Timestamp
    /// The newest with the flag.
    var newest: Timestamp
    /// The newest without the flag.
    var newestWithout: Timestamp?

    var isInForce: Bool { newestWithout.map { $0 <= newest } ?? true }
}

/// The account token of the newest signed transaction that has one.
package struct StampedToken: Sendable, Hashable {
    package var stamp: Timestamp
    package var token: AppAccountToken

    package init(stamp: Timestamp, token: AppAccountToken) { (self.stamp, self.token) = (stamp, token) }
}

/// The seats that one signed transaction of a multiseat purchase states, as one value.
public struct SeatFacts: Sendable, Hashable {
    /// `quantity`: the seats that the transaction bought.
    public var quantity: Int64
    /// `revokedSeatQuantity`: the seats that were refunded. Such a refund has no revocation date.
    public var revoked: Int64
    /// `invitationManagement`: `APPLE` or `DEVELOPER`.
    public var invitationManagement: ExactText?
    /// `additionalTransactionReason`: present as soon as a period has several transactions.
    public var additionReason: ExactText?

    /// The seats that are left.
    public var remaining: Int64 { max(0, quantity - max(0, revoked)) }

    /// The seats of a transaction.
    public init(
        quantity: Int64, revoked: Int64 = 0, invitationManagement: ExactText? = nil, additionReason: ExactText? = nil
    ) {
        self.quantity = quantity
        self.revoked = revoked
        self.invitationManagement = invitationManagement
        self.additionReason = additionReason
    }
}

extension SeatFacts: CanonicalValue {
    package init(from reader: inout CanonicalReader) throws(FactsDecodingError) {
        quantity = try reader.signed()
        revoked = try reader.signed()
        invitationManagement = try reader.optional()
        additionReason = try reader.optional()
    }

    package func encode(to writer: inout CanonicalWriter) {
        writer.write(signed: quantity)
        writer.write(signed: revoked)
        writer.write(optional: invitationManagement)
        writer.write(optional: additionReason)
    }
}

/// The seats in the newest signed transaction that states some.
struct StampedSeats: Sendable, Hashable {
    var stamp: Timestamp
    var seats: SeatFacts
}

/// The offer under which a transaction was bought. Its claims belong together and are merged as one value.
public struct PurchaseOffer: Sendable, Hashable {
    /// `offerType`: 1 introductory, 2 promotional, 3 offer code, 4 win-back.
    public var type: Int64?
    /// `offerIdentifier`.
    public var identifier: ExactText?
    /// `offerDiscountType`, such as `FREE_TRIAL`.
    public var discountType: ExactText?
    /// `offerPeriod` (ISO 8601 duration).
    public var period: ExactText?

    /// Creates an offer from its claims.
    ///
    /// - Returns: `nil` if none of them is present.
    public init?(
        type: Int64? = nil, identifier: ExactText? = nil, discountType: ExactText? = nil, period: ExactText? = nil
    ) {
        guard type != nil || identifier != nil || discountType != nil || period != nil else { return nil }
        self.type = type
        self.identifier = identifier
        self.discountType = discountType
        self.period = period
    }

    /// The identifier of a promotional offer; `nil` for other offers.
    public var promotionalOfferID: ExactText? { type == 2 ? identifier : nil }
    /// What a receipt has as the identifier of a promotional offer: it does not say of which type an offer is. A signed
    /// introductory offer has no identifier.
    public var receiptOfferID: ExactText? { type == 3 || type == 4 ? nil : identifier }
    /// The name of an offer code; `nil` for other offers.
    public var offerCodeName: ExactText? { type == 3 ? identifier : nil }
    /// Whether it is the introductory offer.
    public var isIntroductory: Bool { type == 1 }

    /// Whether nothing was charged for the period.
    public var isFreeTrial: Bool { discountType == "FREE_TRIAL" }
}

/// The price charged for a transaction.
public struct PurchasePrice: Sendable, Hashable {
    /// `price`, or `renewalPrice`, in thousandths of the currency.
    public var milliunits: Int64?
    /// `currency` (ISO 4217).
    public var currency: ExactText?

    /// Creates a price from its claims.
    ///
    /// - Returns: `nil` if none of them is present.
    public init?(milliunits: Int64?, currency: ExactText?) {
        guard milliunits != nil || currency != nil else { return nil }
        self.milliunits = milliunits
        self.currency = currency
    }
}

/// The App Store of a country in which a purchase was made.
public struct Storefront: Sendable, Hashable {
    /// `storefront` (ISO 3166-1 alpha-3).
    public var country: ExactText?
    /// `storefrontId`.
    public var number: ExactText?

    /// Creates a storefront from its claims.
    ///
    /// - Returns: `nil` if none of them is present.
    public init?(country: ExactText?, number: ExactText?) {
        guard country != nil || number != nil else { return nil }
        self.country = country
        self.number = number
    }
}
