import Foundation
import PurchaseVerification

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
            statement.info = statement.info.showingCommitment(of: period)
            return statement
        }
        guard let period, let stamp = period.newestStamp else { return nil }
        let info = RenewalInfo().showingCommitment(of: period)
        return info.otherClaims.map { _ in RenewalStatement(key: period.renewal, stamp: stamp, info: info) }
    }
}
