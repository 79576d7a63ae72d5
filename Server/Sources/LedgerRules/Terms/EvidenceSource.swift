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
