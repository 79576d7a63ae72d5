/// Everything that determines the entitlements of one customer.
public struct EntitlementInput: Sendable {
    public var customer: CustomerNumber
    /// The purchases of every original of which the customer has, had or claimed a transaction. For a subscription
    /// these are all periods with any owner, because a later period of another customer ends an earlier one.
    public var purchases: [OwnedPurchase]
    /// The renewal facts of the subscriptions.
    public var renewals: [RenewalKey: ObservedRenewal]
    /// The newest signed statuses of the subscriptions.
    public var statuses: [OwnershipKey: SignedStatus] = [:]
    /// The customer's consumption, including that of customers merged into them.
    public var consumptions: [ConsumedUnits]
    /// Manual grants to the customer.
    public var grants: [HandGrant]
    /// Manual revocations of those purchases and grants.
    public var revocations: [HandRevocation]

    /// Creates an input.
    public init(
        customer: CustomerNumber, purchases: [OwnedPurchase], renewals: [RenewalKey: ObservedRenewal] = [:],
        consumptions: [ConsumedUnits] = [], grants: [HandGrant] = [], revocations: [HandRevocation] = []
    ) {
        self.customer = customer
        self.purchases = purchases
        self.renewals = renewals
        self.consumptions = consumptions
        self.grants = grants
        self.revocations = revocations
    }
}
