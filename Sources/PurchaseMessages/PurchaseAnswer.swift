/// The answer to a purchase that was accepted. One that was rejected is answered with a `ProblemDocument`.
public struct PurchaseAnswer: Codable, Sendable, Equatable {
    public var verdict: SubmissionVerdict
    /// `accepted`.
    public var code: String
    /// `granted`.
    public var disposition: Disposition
    /// Whether the same customer claimed the transaction before, whatever became of that claim. The claim can still pay
    /// an order.
    public var replayed: Bool
    /// The submission in the record.
    public var submissionID: String
    /// The hash of the submission's leaf in the Merkle log, in hexadecimal.
    public var leafHash: String
    public var transaction: TransactionMessage
    /// The order that it paid.
    public var order: OrderMessage?
    /// The customer's present entitlement to the product.
    public var entitlement: EntitlementMessage?
    /// The customer into whom the one of the request was merged; absent if they were not.
    public var mergedInto: String?
    /// All entitlements of the customer, if the request asked for them and its evidence is the customer's, or the
    /// customer is a guest of this app; absent otherwise.
    public var account: EntitlementList?
    /// What the sender should correct, such as fields that the server does not know.
    public var warnings: [WarningMessage]?

    public init(
        verdict: SubmissionVerdict, code: String, disposition: Disposition, replayed: Bool, submissionID: String,
        leafHash: String, transaction: TransactionMessage, order: OrderMessage? = nil,
        entitlement: EntitlementMessage? = nil, warnings: [WarningMessage]? = nil
    ) {
        (self.verdict, self.code, self.disposition, self.replayed) = (verdict, code, disposition, replayed)
        (self.submissionID, self.leafHash, self.transaction, self.order) = (submissionID, leafHash, transaction, order)
        (self.entitlement, self.warnings) = (entitlement, warnings)
    }

    enum CodingKeys: String, CodingKey {
        case verdict, code, disposition, replayed, transaction, order, entitlement, warnings, account
        case submissionID = "submission_id"
        case leafHash = "leaf_hash"
        case mergedInto = "merged_into"
    }
}

/// A fact about a request that did not keep it from being answered, such as a field that the server does not know.
public struct WarningMessage: Codable, Sendable, Equatable {
    /// The stable code.
    public var code: String
    /// A sentence for people.
    public var detail: String
    /// The value found instead.
    public var found: String?

    public init(code: String, detail: String, found: String? = nil) {
        (self.code, self.detail, self.found) = (code, detail, found)
    }
}
