/// A submission as it stands in the record.
public struct SubmissionMessage: Codable, Sendable, Equatable {
    public var submissionID: String
    /// Its place in the record, from 1.
    public var sequence: Int64
    public var receivedAt: String
    public var decidedAt: String
    public var verdict: SubmissionVerdict
    public var code: String
    public var expected: String?
    public var found: String?
    public var replayed: Bool
    public var customerID: String?
    public var orderID: String?
    public var productID: String?
    public var transactionID: String?
    public var quantity: Int64?
    public var environment: EnvironmentName?
    public var evidenceKind: String?
    /// SHA-256 of the evidence as it was sent.
    public var evidenceSHA256: String?
    /// The key that it came with.
    public var keyID: String?
    public var sourceAddress: String?
    /// Its hash in the chain.
    public var hash: String

    /// A submission by its parts.
    public init(
        submissionID: String, sequence: Int64, receivedAt: String, decidedAt: String, verdict: SubmissionVerdict,
        code: String,
        expected: String?, found: String?, replayed: Bool, customerID: String?, orderID: String?, productID: String?,
        transactionID: String?, quantity: Int64?, environment: EnvironmentName?, evidenceKind: String?,
        evidenceSHA256: String?,
        keyID: String?, sourceAddress: String?, hash: String
    ) {
        self.submissionID = submissionID
        self.sequence = sequence
        self.receivedAt = receivedAt
        self.decidedAt = decidedAt
        self.verdict = verdict
        self.code = code
        self.expected = expected
        self.found = found
        self.replayed = replayed
        self.customerID = customerID
        self.orderID = orderID
        self.productID = productID
        self.transactionID = transactionID
        self.quantity = quantity
        self.environment = environment
        self.evidenceKind = evidenceKind
        self.evidenceSHA256 = evidenceSHA256
        self.keyID = keyID
        self.sourceAddress = sourceAddress
        self.hash = hash
    }

    enum CodingKeys: String, CodingKey {
        case submissionID = "submission_id"
        case receivedAt = "received_at"
        case decidedAt = "decided_at"
        case sequence, verdict, code, expected, found, replayed, quantity, environment, hash
        case customerID = "customer_id"
        case orderID = "order_id"
        case productID = "product_id"
        case transactionID = "transaction_id"
        case evidenceKind = "evidence_kind"
        case evidenceSHA256 = "evidence_sha256"
        case keyID = "key_id"
        case sourceAddress = "source_address"
    }
}

/// A page of submissions, newest first.
public struct SubmissionList: Codable, Sendable, Equatable {
    public var submissions: [SubmissionMessage]
    /// Where the next page begins; absent on the last.
    public var nextCursor: String?

    /// A page.
    public init(submissions: [SubmissionMessage], nextCursor: String?) {
        self.submissions = submissions
        self.nextCursor = nextCursor
    }

    enum CodingKeys: String, CodingKey {
        case submissions
        case nextCursor = "next_cursor"
    }
}
