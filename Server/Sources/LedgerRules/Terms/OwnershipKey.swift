/// The unit of one history of owners: the copies that one holder has of an original transaction. Members of a family or
/// a group own theirs independently of the buyer and of each other.
public struct OwnershipKey: Sendable, Hashable {
    /// The original transaction.
    public let original: OriginalKey
    public let holder: PurchaseHolder

    /// Creates a key.
    public init(original: OriginalKey, holder: PurchaseHolder = .buyer) {
        self.original = original
        self.holder = holder
    }

    /// Whether it was obtained through Family Sharing.
    public var isFamilyShared: Bool { if case .family = holder { true } else { false } }
}
