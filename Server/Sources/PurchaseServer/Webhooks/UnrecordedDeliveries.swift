/// How many deliveries of a webhook are not recorded, and how many may be.
///
/// What a server delivered and did not record is sent again after it was killed. So it begins with few and doubles
/// their number with each record: a server that is killed soon repeats few, however fast its receiver is.
package struct UnrecordedDeliveries: Sendable {
    /// The attempts before the first record.
    package static let first = 8
    /// The attempts that are repeated at most after a kill, unless they wait for the record of an attempt that takes
    /// long. A record of so many costs little beside their requests.
    package static let most = 64

    /// The attempts that may be under way or unrecorded.
    package private(set) var allowance = first
    private let window: Int
    private var delivered = 0

    /// - Parameter window: the number of attempts that more do not matter for.
    package init(window: Int) { self.window = window }

    /// Whether no further attempt may begin.
    package func isFull(with underWay: Int) -> Bool { underWay + delivered >= allowance }

    /// Whether so many are not recorded that a record is due at once.
    package var isRecordDue: Bool { 2 * delivered >= allowance }

    /// Notes deliveries.
    package mutating func add(_ count: Int) { delivered += count }

    /// A record ended.
    ///
    /// - Parameters:
    ///   - remaining: the deliveries that it could not record, because they came after an attempt that takes long.
    ///   - hadOutcomes: whether it recorded any.
    package mutating func recorded(remaining: Int, hadOutcomes: Bool) {
        delivered = remaining
        if hadOutcomes { allowance = min(2 * allowance, window, Self.most) }
    }

    /// Time passed in which nothing could be recorded, because the first event takes long. Others do not wait for it.
    package mutating func allowMore() { allowance = min(2 * allowance, window) }
}
