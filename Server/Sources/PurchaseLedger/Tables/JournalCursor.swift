public import PurchaseVerification

/// The position at which a page of the journal continues, towards older entries.
public struct JournalCursor: Sendable, Hashable {
    /// The time of the last entry of the page before.
    public var at: Timestamp
    public var key: Int64

    /// Creates a cursor.
    public init(at: Timestamp, key: Int64) {
        self.at = at
        self.key = key
    }
}
