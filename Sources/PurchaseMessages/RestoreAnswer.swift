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
    /// All entitlements of the customer, if the request asked for them and its evidence is the customer's, or the
    /// customer is a guest of this app; absent otherwise.
    public var account: EntitlementList?
    /// Present if the same request with an app transaction of the last hour may get more: the purchases of a guest.
    public var needsAppTransaction: Bool?
    /// What the sender should correct, such as fields that the server does not know.
    public var warnings: [WarningMessage]?

    public init(
        customerID: String, purchases: [RestoredPurchaseMessage], refused: [RefusedEvidenceMessage],
        entitlements: [EntitlementMessage], warnings: [WarningMessage]? = nil
    ) {
        (self.customerID, self.purchases, self.refused) = (customerID, purchases, refused)
        (self.entitlements, self.warnings) = (entitlements, warnings)
    }

    enum CodingKeys: String, CodingKey {
        case purchases, refused, entitlements, warnings, account
        case customerID = "customer_id"
        case mergedInto = "merged_into"
        case needsAppTransaction = "needs_app_transaction"
    }
}

/// One purchase of a restore. An expired or withdrawn purchase is not an error: it is recorded and belongs to the
/// customer.
public struct RestoredPurchaseMessage: Codable, Sendable, Equatable {
    public var transactionID: String
    public var originalTransactionID: String
    public var productID: String
    public var environment: EnvironmentName
    /// When the paid period ends.
    public var expiresAt: String?
    /// `accepted`, or why it gives the customer nothing now.
    public var code: String
    /// The sentence for people.
    public var detail: String?
    public var disposition: Disposition
    /// Whether the same customer claimed it before.
    public var replayed: Bool
    /// The holder of the earlier claim, if the code is `already_claimed`.
    public var claimedBy: PriorClaim?
    /// The submission in the record; absent if the refusal was only counted.
    public var submissionID: String?
    /// The hash of the submission's leaf in the Merkle log, in hexadecimal.
    public var leafHash: String?

    public init(
        transactionID: String, originalTransactionID: String, productID: String, environment: EnvironmentName,
        expiresAt: String? = nil, code: String, detail: String? = nil, disposition: Disposition, replayed: Bool,
        claimedBy: PriorClaim? = nil, submissionID: String?, leafHash: String? = nil
    ) {
        (self.transactionID, self.originalTransactionID) = (transactionID, originalTransactionID)
        (self.productID, self.environment, self.expiresAt, self.code) = (productID, environment, expiresAt, code)
        (self.detail, self.disposition, self.replayed, self.claimedBy) = (detail, disposition, replayed, claimedBy)
        (self.submissionID, self.leafHash) = (submissionID, leafHash)
    }

    enum CodingKeys: String, CodingKey {
        case environment, code, detail, disposition, replayed
        case transactionID = "transaction_id"
        case originalTransactionID = "original_transaction_id"
        case productID = "product_id"
        case expiresAt = "expires_at"
        case claimedBy = "claimed_by"
        case submissionID = "submission_id"
        case leafHash = "leaf_hash"
    }
}

/// A piece of evidence of a restore that was refused.
public struct RefusedEvidenceMessage: Codable, Sendable, Equatable {
    /// Its place in the request, from 0.
    public var index: Int
    public var code: String
    /// The sentence for people.
    public var detail: String?
    public var expected: String?
    public var found: String?
    public var disposition: Disposition
    /// The submission in the record; absent if the refusal was only counted.
    public var submissionID: String?
    /// The hash of the submission's leaf in the Merkle log, in hexadecimal.
    public var leafHash: String?

    public init(
        index: Int, code: String, detail: String? = nil, expected: String? = nil, found: String? = nil,
        disposition: Disposition, submissionID: String?, leafHash: String? = nil
    ) {
        (self.index, self.code, self.detail, self.expected) = (index, code, detail, expected)
        (self.found, self.disposition, self.submissionID, self.leafHash) = (found, disposition, submissionID, leafHash)
    }

    enum CodingKeys: String, CodingKey {
        case index, code, detail, expected, found, disposition
        case submissionID = "submission_id"
        case leafHash = "leaf_hash"
    }
}
