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

    /// An outcome by its parts.
    public init(
        transactionID: String, originalTransactionID: String, productID: String, environment: EnvironmentName,
        expiresAt: String? = nil, code: String, detail: String? = nil, disposition: Disposition, replayed: Bool,
        claimedBy: PriorClaim? = nil, submissionID: String?, leafHash: String? = nil
    ) {
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.productID = productID
        self.environment = environment
        self.expiresAt = expiresAt
        self.code = code
        self.detail = detail
        self.disposition = disposition
        self.replayed = replayed
        self.claimedBy = claimedBy
        self.submissionID = submissionID
        self.leafHash = leafHash
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
