public import PurchaseVerification

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
