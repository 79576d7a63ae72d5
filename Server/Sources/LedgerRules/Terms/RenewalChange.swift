public import PurchaseVerification

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
