public import PurchaseVerification

/// The position at which a page of a timeline continues.
public struct TimelineCursor: Sendable, Hashable {
    /// The last event.
    public var event: Int64
    /// The last claim.
    public var claim: JournalCursor

    /// A position; without arguments, the beginning.
    public init(
        event: Int64 = 0, claim: JournalCursor = JournalCursor(at: Timestamp(millisecondsSince1970: .min), key: .min)
    ) {
        self.event = event
        self.claim = claim
    }
}
