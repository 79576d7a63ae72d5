/// The unit of one history of owners: an original transaction, purchased or shared. Members of a family own their shared copies
/// independently of the paying member.
public struct OwnershipKey: Sendable, Hashable {
    /// The original transaction.
    public let original: OriginalKey
    /// Whether it was obtained through Family Sharing.
    public let isFamilyShared: Bool

    /// Creates a key.
    public init(original: OriginalKey, isFamilyShared: Bool = false) {
        self.original = original
        self.isFamilyShared = isFamilyShared
    }
}
