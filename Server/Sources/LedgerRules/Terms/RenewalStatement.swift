public import PurchaseVerification

/// The statement of one signed renewal info about one subscription.
public struct RenewalStatement: Sendable, Equatable {
    /// The subscription.
    public var key: RenewalKey
    /// When it was signed; 1970 if it has no date, so that it is never newer than other information about a period.
    public var stamp: Timestamp
    /// The content.
    public var info: RenewalInfo
    /// The transaction signed beside it, in one notification; `nil` if there is none.
    public var beside: ExactText?

    /// Creates a statement.
    public init(key: RenewalKey, stamp: Timestamp, info: RenewalInfo, beside: ExactText? = nil) {
        self.key = key
        self.stamp = stamp
        self.info = info
        self.beside = beside
    }

    /// What it says about the end of a period. Statements that say different things are kept beside each other: the end
    /// of a grace period must not change the answer for a time in it.
    package enum Concern: Hashable, Comparable {
        case none
        case retry
        /// A grace period, until its end or, if that is not known, the latest time.
        case grace(until: Timestamp)
    }

    package var concern: Concern {
        let end = info.isGraceEndUnknown ? .latestStorable : info.graceEnd
        return end.map { .grace(until: $0) } ?? (info.isInBillingRetry == true ? .retry : .none)
    }

    /// The facts that a newer statement replaces.
    struct Slot: Hashable, Comparable {
        let beside: ExactText
        let concern: Concern

        static func < (left: Slot, right: Slot) -> Bool {
            left.beside == right.beside ? left.concern < right.concern : left.beside < right.beside
        }
    }

    var slot: Slot { Slot(beside: beside ?? "", concern: concern) }
}

/// The content of one signed renewal info, merged as a whole.
public struct RenewalInfo: Sendable, Hashable {
    /// The product of the current period.
    public var productID: ExactText?
    /// The product of the next period.
    public var nextProductID: ExactText?
    /// `autoRenewStatus`: 1 if the subscription renews automatically.
    public var autoRenewStatus: Int64?
    /// `expirationIntent`: why the subscription ended.
    public var expirationIntent: Int64?
    public var isInBillingRetry: Bool?
    /// `priceIncreaseStatus`: 0 not answered, 1 agreed.
    public var priceIncreaseStatus: Int64?
    /// When the grace period ends.
    public var graceEnd: Timestamp?
    /// Whether a status signed beside it says that a grace period runs whose end it does not state.
    public var isGraceEndUnknown = false
    /// When the next period begins.
    public var renewalDate: Timestamp?
    public var renewalPrice: PurchasePrice?
    /// When the subscription last began without a gap.
    public var recentStart: Timestamp?
    /// The offer of the next period.
    public var offer: PurchaseOffer?
    public var accountToken: AppAccountToken?
    public var appTransactionID: ExactText?
    /// Every other signed claim, as canonical JSON.
    public var otherClaims: [UInt8]?

    /// Renewal info without content.
    public init() {}
}

/// A commitment to several payments of a subscription, as the App Store signed it (`commitmentInfo`). It is shown, and
/// decides nothing.
public struct RenewalCommitment: Sendable, Hashable {
    /// The number of the billing period, from 1 (`billingPeriodNumber`).
    public var period: Int64?
    /// The billing periods of the commitment (`totalBillingPeriods`).
    public var periods: Int64?
    /// When the commitment ends (`commitmentExpiresDate`).
    public var until: Timestamp?
    /// Whether another commitment follows (`commitmentAutoRenewStatus`).
    public var renews: Bool?

    /// A commitment without members.
    init() {}
}

/// A change of what the App Store signed about the next renewal of a subscription, with both values.
public struct RenewalChange: Sendable, Hashable {
    /// The value before; `nil` if nothing was signed before.
    public var former: Signed?
    public var current: Signed

    /// The content of renewal info, and when it was signed.
    public struct Signed: Sendable, Hashable {
        public var stamp: Timestamp
        public var info: RenewalInfo
    }

    /// What an app or a backend acts on.
    public enum Field: String, Sendable, CaseIterable {
        case autoRenew = "auto_renew"
        case nextProduct = "next_product"
        case priceConsent = "price_consent"
        case billingRetry = "billing_retry"
        case graceUntil = "grace_until"
        case offer
        case commitment
    }
}

extension RenewalChange.Signed: CanonicalValue {
    package init(from reader: inout CanonicalReader) throws(FactsDecodingError) {
        stamp = try reader.moment()
        info = try reader.value()
    }

    package func encode(to writer: inout CanonicalWriter) {
        writer.write(stamp)
        writer.write(info)
    }
}

extension RenewalChange: CanonicalValue {
    package init(from reader: inout CanonicalReader) throws(FactsDecodingError) {
        former = try reader.optional()
        current = try reader.value()
    }

    package func encode(to writer: inout CanonicalWriter) {
        writer.write(optional: former)
        writer.write(current)
    }
}

/// The facts of one subscription's renewal: the newest renewal info that was signed beside each transaction, and
/// without one, for each thing that it says about the end of a period.
public final class ObservedRenewal: Sendable {
    /// The subscription.
    public let key: RenewalKey
    /// One for each slot, in the order of the slots; at least one.
    public let statements: [RenewalStatement]
    /// The newest of them.
    public let newest: RenewalStatement

    /// - Parameter statements: of one subscription, at most one for each slot.
    package init?(_ statements: [RenewalStatement]) {
        guard let first = statements.first else { return nil }
        key = first.key
        self.statements = statements.sorted { $0.slot < $1.slot }
        newest = statements.dropFirst().reduce(first, RenewalStatement.newer)
    }

    package init(first statement: RenewalStatement) {
        (key, statements, newest) = (statement.key, [statement], statement)
    }

    /// When the newest renewal info was signed.
    public var stamp: Timestamp { newest.stamp }
    /// The newest renewal info.
    public var info: RenewalInfo { newest.info }
}

extension ObservedRenewal: Hashable {
    public static func == (left: ObservedRenewal, right: ObservedRenewal) -> Bool {
        left === right || left.statements == right.statements
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(stamp)
    }
}
