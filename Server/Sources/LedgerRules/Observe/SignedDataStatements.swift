import Foundation
import PurchaseVerification

extension SignedContent where Claims == TransactionClaims, Trust == VerifiedContent {
    /// The statement of a signed transaction.
    ///
    /// A withdrawal, and the purchase of what does not renew, cannot be later than the signature that states them: such
    /// a date counts as the stamp. The App Store signs periods up to a day before they begin, so their dates are taken
    /// as they are.
    var statement: TransactionStatement? {
        guard let transactionID = ExactText(identifier: self.transactionID),
            let key = TransactionKey(
                environment: environment, transactionID: transactionID, purchaseDate: self.purchaseDate)
        else { return nil }
        let dates = [self.purchaseDate, self.originalPurchaseDate, self.revocationDate].compactMap(\.self)
        let stamp = self.signedDate ?? dates.max() ?? .epoch
        var statement = TransactionStatement(key: key, source: .signedData, stamp: stamp)
        statement.bundleID = ExactText(identifier: self.bundleID)
        statement.originalTransactionID = ExactText(identifier: self.originalTransactionID)
        statement.productID = ExactText(identifier: self.productID)
        statement.kind = self.productType.flatMap(ProductKind.init(stated:))
        statement.subscriptionGroupID = ExactText(identifier: self.subscriptionGroupIdentifier)
        statement.end = self.expiresDate
        let renews = statement.kind.map { $0 == .autoRenewable } ?? (statement.end != nil)
        statement.purchaseDate = renews ? self.purchaseDate : self.purchaseDate.map { min($0, stamp) }
        // In Xcode, the second of this date is part of the key of the original.
        statement.originalPurchaseDate =
            renews || environment == .xcode
            ? self.originalPurchaseDate : self.originalPurchaseDate.map { min($0, stamp) }
        statement.quantity = self.quantity.map { Int64(clamping: $0) }
        statement.lineItemID = ExactText(lineItem: self.webOrderLineItemID)
        statement.ownershipType = ExactText(identifier: self.ownershipType?.rawValue)
        statement.price = PurchasePrice(milliunits: self.price, currency: ExactText(identifier: self.currency))
        statement.storefront = Storefront(
            country: ExactText(identifier: self.storefront), number: ExactText(identifier: self.storefrontID))
        statement.offer = PurchaseOffer(
            type: self.offerType?.rawValue, identifier: ExactText(identifier: self.offerIdentifier),
            discountType: ExactText(identifier: self.offerDiscountType?.rawValue),
            period: ExactText(identifier: self.offerPeriod))
        statement.reason = ExactText(identifier: self.transactionReason?.rawValue)
        statement.appTransactionID = ExactText(identifier: self.appTransactionID)
        statement.revocation = revocation(stamp: stamp)
        statement.isUpgraded = self.isUpgraded == true
        statement.accountToken = self.appAccountToken.map { AppAccountToken($0) }
        statement.seats = seats
        // The quantity of seats changes with them, so it is merged with them.
        if statement.seats != nil { statement.quantity = nil }
        statement.otherClaims = otherTransactionClaims(statement)
        return statement
    }

    /// The seats of a multiseat purchase; `nil` for any other.
    private var seats: SeatFacts? {
        guard self.multiSeatInfo != nil || self.additionalTransactionReason != nil else { return nil }
        var seats = SeatFacts(quantity: self.quantity.map { Int64(clamping: $0) } ?? 1)
        if let revoked = self.multiSeatInfo?.revokedSeatQuantity { seats.revoked = revoked }
        if let management = self.multiSeatInfo?.invitationManagement {
            seats.invitationManagement = ExactText(identifier: management.rawValue)
        }
        seats.additionReason = ExactText(identifier: self.additionalTransactionReason?.rawValue)
        return seats
    }

    /// A revocation without a date, or with a later one, counts from the time of its signature.
    private func revocation(stamp: Timestamp) -> Revocation? {
        let isStated =
            self.revocationDate != nil || self.revocationReason != nil || self.revocationType != nil
            || self.revocationPercentage != nil
        guard isStated else { return nil }
        return Revocation(
            date: min(self.revocationDate ?? stamp, stamp), reason: self.revocationReason?.rawValue,
            type: ExactText(identifier: self.revocationType?.rawValue), percentage: self.revocationPercentage)
    }

    /// Claims without a field in the facts. Claims that identify a device are excluded: they are not facts of the
    /// purchase.
    private func otherTransactionClaims(_ statement: TransactionStatement) -> [UInt8]? {
        var claims = self.otherClaims
        claims["advancedCommerceInfo"] = self.advancedCommerceInfo
        claims["commitmentInfo"] = self.commitmentInfo
        claims["billingPlanType"] = self.billingPlanType.map(JSONValue.string)
        claims["multiSeatInfo"] = self.multiSeatInfo.map { .object($0.members) }
        claims["previousOriginalTransactionId"] = self.previousOriginalTransactionID.map(JSONValue.string)
        // A value that the field in the facts cannot hold.
        if statement.kind == nil { claims["type"] = self.productType.map { .string($0.rawValue) } }
        return CanonicalJSON.otherClaims(claims)
    }
}

extension SignedContent where Claims == RenewalInfoClaims, Trust == VerifiedContent {
    /// The statement of signed renewal info.
    var statement: RenewalStatement? {
        guard let original = ExactText(identifier: self.originalTransactionID) else { return nil }
        var info = RenewalInfo()
        info.productID = ExactText(identifier: self.productID)
        info.nextProductID = ExactText(identifier: self.autoRenewProductID)
        info.autoRenewStatus = self.autoRenewStatus?.rawValue
        info.expirationIntent = self.expirationIntent?.rawValue
        info.isInBillingRetry = self.isInBillingRetryPeriod
        info.priceIncreaseStatus = self.priceIncreaseStatus?.rawValue
        info.graceEnd = self.gracePeriodExpiresDate
        info.renewalDate = self.renewalDate
        info.renewalPrice = PurchasePrice(
            milliunits: self.renewalPrice, currency: ExactText(identifier: self.currency))
        info.recentStart = self.recentSubscriptionStartDate
        info.offer = PurchaseOffer(
            type: self.offerType?.rawValue, identifier: ExactText(identifier: self.offerIdentifier),
            discountType: ExactText(identifier: self.offerDiscountType?.rawValue),
            period: ExactText(identifier: self.offerPeriod))
        info.accountToken = self.appAccountToken.map { AppAccountToken($0) }
        info.appTransactionID = ExactText(identifier: self.appTransactionID)
        info.otherClaims = otherRenewalClaims
        return RenewalStatement(
            key: RenewalKey(environment: environment, originalTransactionID: original),
            stamp: self.signedDate ?? .epoch, info: info)
    }

    private var otherRenewalClaims: [UInt8]? {
        var claims = self.otherClaims
        claims["advancedCommerceInfo"] = self.advancedCommerceInfo
        claims["commitmentInfo"] = self.commitmentInfo
        claims["renewalBillingPlanType"] = self.renewalBillingPlanType.map(JSONValue.string)
        claims["eligibleWinBackOfferIds"] = self.eligibleWinBackOfferIDs.map { .array($0.map(JSONValue.string)) }
        return CanonicalJSON.otherClaims(claims)
    }
}

extension ProductKind {
    /// The kind that evidence states; `nil` if it is unknown.
    init?(stated type: ProductType) {
        switch type {
        case .nonConsumable: self = .nonConsumable
        case .consumable: self = .consumable
        case .nonRenewingSubscription: self = .nonRenewing
        case .autoRenewableSubscription, .freeSubscription: self = .autoRenewable
        default: return nil
        }
    }
}

/// Reads a commitment from the claims of signed data that have no field in the facts.
extension RenewalCommitment {
    /// Reads the commitment among the claims without a field.
    ///
    /// - Parameter claims: canonical JSON.
    /// - Returns: `nil` if they state none, or one of another form.
    package init?(claims: [UInt8]?) {
        // Most subscriptions have no commitment, and their claims need not be read.
        guard let claims, claims.contains(Self.name), let info = Self.info(of: claims) else { return nil }
        self.init()
        period = info.billingPeriodNumber
        periods = info.totalBillingPeriods
        until = info.commitmentExpiresDate.flatMap {
            Self.dates.contains($0) ? Timestamp(millisecondsSince1970: $0) : nil
        }
        renews = info.commitmentAutoRenewStatus.flatMap { $0 == 0 || $0 == 1 ? $0 == 1 : nil }
        guard claimsOfMembers != nil else { return nil }
    }

    /// The commitment of a billing period: a transaction states the number of the period, renewal info what follows.
    package init?(transaction: RenewalCommitment?, renewalInfo: RenewalCommitment?) {
        guard let stated = transaction ?? renewalInfo else { return nil }
        self.init()
        period = stated.period ?? renewalInfo?.period
        periods = stated.periods ?? renewalInfo?.periods
        until = stated.until ?? renewalInfo?.until
        renews = renewalInfo?.renews ?? stated.renews
    }

    /// The commitment in the form of the claims that state it; `nil` if it has no members.
    var claimsOfMembers: [UInt8]? {
        var members: [String: JSONValue] = [:]
        members["billingPeriodNumber"] = period.map(JSONValue.integer)
        members["totalBillingPeriods"] = periods.map(JSONValue.integer)
        members["commitmentExpiresDate"] = until.map { .integer($0.millisecondsSince1970) }
        members["commitmentAutoRenewStatus"] = renews.map { .integer($0 ? 1 : 0) }
        return members.isEmpty ? nil : CanonicalJSON.otherClaims(["commitmentInfo": .object(members)])
    }

    /// The dates that can be shown: up to the year 9999.
    private static let dates: ClosedRange<Int64> = 0...253_402_300_799_999
    private static let name = Array("\"commitmentInfo\":".utf8)

    private struct Claims: Decodable {
        var commitmentInfo: Info

        struct Info: Decodable {
            var billingPeriodNumber: Int64?
            var totalBillingPeriods: Int64?
            var commitmentExpiresDate: Int64?
            var commitmentAutoRenewStatus: Int64?
        }
    }

    private static func info(of claims: [UInt8]) -> Claims.Info? {
        do {
            return try JSONDecoder().decode(Claims.self, from: Data(claims)).commitmentInfo
        } catch {
            // The App Store signed a member in another form, which is not shown.
            return nil
        }
    }
}

extension RenewalInfo {
    /// The commitment to several payments.
    public var commitment: RenewalCommitment? { RenewalCommitment(claims: otherClaims) }
    /// The product of the bundle with which it renews.
    public var bundleProductID: String? { Self.bundleProductID(otherClaims) }

    /// The claim in canonical JSON that names a bundle, in either spelling; `nil` if there is none of its form.
    private static func bundleProductID(_ claims: [UInt8]?) -> String? {
        // Most subscriptions are of no bundle, and their claims need not be read.
        guard let claims, claims.contains(bundleName) else { return nil }
        do {
            let names = try JSONDecoder().decode(BundleClaims.self, from: Data(claims))
            return names.bundleProductID ?? names.bundleProductId
        } catch {
            // The App Store signed the claim in another form, which is not shown.
            return nil
        }
    }

    private static let bundleName = Array("\"bundleProductI".utf8)

    private struct BundleClaims: Decodable {
        var bundleProductID: String?
        var bundleProductId: String?
    }

    /// What is shown of the claims without a field: the commitment, and the bundle.
    fileprivate func showing(_ period: ObservedTransaction?) -> RenewalInfo {
        var info = showingCommitment(of: period)
        guard let bundle = bundleProductID ?? Self.bundleProductID(period?.otherClaims) else { return info }
        guard let claims = CanonicalJSON.otherClaims(["bundleProductID": .string(bundle)]) else { return info }
        // Two objects become one, with its members in the order of their names.
        info.otherClaims =
            info.otherClaims.map { Array(claims.dropLast()) + [UInt8(ascii: ",")] + Array($0.dropFirst()) } ?? claims
        return info
    }

    /// The renewal info with the commitment that the transaction of a period states, and without the other claims
    /// that have no field.
    func showingCommitment(of period: ObservedTransaction?) -> RenewalInfo {
        var info = self
        info.otherClaims =
            RenewalCommitment(
                transaction: RenewalCommitment(claims: period?.otherClaims), renewalInfo: commitment
            )?.claimsOfMembers
        return info
    }
}

extension RenewalStatement {
    /// Renewal info as it is shown, with the commitment of its period. If only the transaction of the period was
    /// signed, its commitment is shown alone.
    package static func shown(_ statement: RenewalStatement?, with period: ObservedTransaction?) -> RenewalStatement? {
        if var statement {
            statement.info = statement.info.showing(period)
            return statement
        }
        guard let period, let stamp = period.newestStamp else { return nil }
        let info = RenewalInfo().showing(period)
        return info.otherClaims.map { _ in RenewalStatement(key: period.renewal, stamp: stamp, info: info) }
    }
}

/// JSON in canonical form: members sorted by the bytes of their names, no white space, and only the escapes that RFC
/// 8259 requires.
enum CanonicalJSON {
    /// The limit for the other claims in facts, in bytes. Apple's have a few hundred; the evidence keeps all of them.
    static let otherClaimsBytes = 8192

    /// The claims that have no field in the facts.
    ///
    /// - Returns: `nil` if there are none, or if they exceed the limit.
    static func otherClaims(_ claims: [String: JSONValue]) -> [UInt8]? {
        guard !claims.isEmpty else { return nil }
        var bytes: [UInt8] = []
        write(.object(claims), to: &bytes)
        return bytes.count <= otherClaimsBytes ? bytes : nil
    }

    private static func write(_ value: JSONValue, to bytes: inout [UInt8]) {
        switch value {
        case .null: bytes += "null".utf8
        case .boolean(let flag): bytes += (flag ? "true" : "false").utf8
        case .integer(let number): bytes += "\(number)".utf8
        case .number(let number): bytes += "\(number)".utf8
        case .string(let text): write(text, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (place, value) in values.enumerated() {
                if place > 0 { bytes.append(UInt8(ascii: ",")) }
                write(value, to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            for (place, member) in sorted.enumerated() {
                if place > 0 { bytes.append(UInt8(ascii: ",")) }
                write(member.key, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                write(member.value, to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: bytes += Array("\\u00\([byte].hexadecimal)".utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
