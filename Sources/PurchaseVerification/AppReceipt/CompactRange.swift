/// The offsets of a value in eight bytes, so that a purchase's record stays small. Offset 0 is never a value's: it
/// means that the attribute is absent.
struct CompactRange: Sendable {
    private let lowerBound: UInt32
    private let count: UInt32

    static let absent = CompactRange()

    private init() { (lowerBound, count) = (0, 0) }

    /// The evidence budget keeps offsets far below 2^32.
    init(_ range: Range<Int>) {
        lowerBound = UInt32(truncatingIfNeeded: range.lowerBound)
        count = UInt32(truncatingIfNeeded: range.upperBound &- range.lowerBound)
    }

    var range: Range<Int>? {
        lowerBound == 0 ? nil : Int(lowerBound)..<(Int(lowerBound) + Int(count))
    }
}
