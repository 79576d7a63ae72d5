/// Everything that decides what one customer may use.
public struct EntitlementInput: Sendable {
    /// The customer.
    public var customer: CustomerNumber
    /// The purchases of every original of which the customer has, had or claimed something. Of a subscription these are all
    /// periods, whoever owns them, because a later one of somebody else ends an earlier one.
    public var purchases: [OwnedPurchase]
    /// The renewal facts of the subscriptions.
    public var renewals: [RenewalKey: ObservedRenewal]
    /// What the customer used, those who were merged into the customer included.
    public var consumptions: [ConsumedUnits]
    /// Manual grants to the customer.
    public var grants: [HandGrant]
    /// Revocations by hand of those purchases and grants.
    public var revocations: [HandRevocation]

    /// An input by its parts.
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
