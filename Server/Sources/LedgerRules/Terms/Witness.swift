public import PurchaseVerification

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
