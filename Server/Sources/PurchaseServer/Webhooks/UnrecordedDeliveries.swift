/// How many deliveries of a webhook are not recorded, and how many may be.
///
/// What a server delivered and did not record is sent again after it was killed. So it begins with few and doubles
/// their number with each record: a server that is killed soon repeats few, however fast its receiver is.
package struct UnrecordedDeliveries: Sendable {
    /// The attempts before the first record.
    package static let first = 8
    /// The attempts that are repeated at most after a kill. A record of so many costs little beside their requests.
    package static let most = 64

    /// The attempts that may be under way or unrecorded.
    package private(set) var allowance = first
    private let most: Int
    private var delivered = 0

    /// - Parameter most: the number of attempts that more do not matter for.
    package init(upTo most: Int) { self.most = most }

    /// Whether no further attempt may begin.
    package func isFull(with underWay: Int) -> Bool { underWay + delivered >= allowance }

    /// Whether so many are not recorded that a record is due at once.
    package var isRecordDue: Bool { 2 * delivered >= allowance }

    /// Notes deliveries.
    package mutating func add(_ count: Int) { delivered += count }

    /// A record ended.
    ///
    /// - Parameter hadOutcomes: whether it recorded any.
    package mutating func recorded(hadOutcomes: Bool) {
        delivered = 0
        if hadOutcomes { allowMore() }
    }

    /// Time passed in which nothing could be recorded, because the first event takes long. Others do not wait for it.
    package mutating func allowMore() { allowance = min(2 * allowance, most) }
}
