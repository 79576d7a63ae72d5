/// The answer to a restore: one result for each purchase and for each refused piece of evidence.
public struct RestoreAnswer: Codable, Sendable, Equatable {
    public var customerID: String
    /// The purchases that the evidence proves, each once, in the order of the evidence.
    public var purchases: [RestoredPurchaseMessage]
    /// Evidence that proves nothing.
    public var refused: [RefusedEvidenceMessage]
    /// The customer's present entitlements to these products.
    public var entitlements: [EntitlementMessage]

    /// An answer by its parts.
    public init(
        customerID: String, purchases: [RestoredPurchaseMessage], refused: [RefusedEvidenceMessage],
        entitlements: [EntitlementMessage]
    ) {
        self.customerID = customerID
        self.purchases = purchases
        self.refused = refused
        self.entitlements = entitlements
    }

    enum CodingKeys: String, CodingKey {
        case purchases, refused, entitlements
        case customerID = "customer_id"
    }
}
