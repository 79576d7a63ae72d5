/// The status of a subscription that a notification states.
public struct StatusStatement: Sendable, Equatable {
    /// The subscription.
    public var key: RenewalKey
    /// Whose copies of the subscription it is about.
    public var holder: PurchaseHolder
    public var status: SignedStatus

    /// Creates a statement.
    public init(key: RenewalKey, holder: PurchaseHolder, status: SignedStatus) {
        self.key = key
        self.holder = holder
        self.status = status
    }
}
