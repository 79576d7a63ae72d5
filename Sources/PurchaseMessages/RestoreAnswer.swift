/// The answer to a restore: one result for each purchase and for each refused piece of evidence.
public struct RestoreAnswer: Codable, Sendable, Equatable {
    public var customerID: String
    /// The customer into whom they were merged; absent if they were not.
    public var mergedInto: String?
    /// The purchases that the evidence proves, each once, in the order of the evidence.
    public var purchases: [RestoredPurchaseMessage]
    /// Evidence that proves nothing.
    public var refused: [RefusedEvidenceMessage]
    /// The customer's present entitlements to these products.
    public var entitlements: [EntitlementMessage]
    /// What the sender should correct, such as fields that the server does not know.
    public var warnings: [WarningMessage]?

    /// An answer by its parts.
    public init(
        customerID: String, purchases: [RestoredPurchaseMessage], refused: [RefusedEvidenceMessage],
        entitlements: [EntitlementMessage], warnings: [WarningMessage]? = nil
    ) {
        self.customerID = customerID
        self.purchases = purchases
        self.refused = refused
        self.entitlements = entitlements
        self.warnings = warnings
    }

    enum CodingKeys: String, CodingKey {
        case purchases, refused, entitlements, warnings
        case customerID = "customer_id"
        case mergedInto = "merged_into"
    }
}
