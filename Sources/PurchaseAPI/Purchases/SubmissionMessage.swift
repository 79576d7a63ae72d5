public import PurchaseMessages

/// A recorded submission.
public struct SubmissionMessage: Codable, Sendable, Equatable {
    public var submissionID: String
    public var receivedAt: String
    public var verdict: SubmissionVerdict
    public var code: String
    public var expected: String?
    public var found: String?
    public var replayed: Bool
    /// Whether it came by `POST /v1/restores`.
    public var restore: Bool
    public var customerID: String?
    public var orderID: String?
    public var productID: String?
    public var transactionID: String?
    public var quantity: Int64?
    public var evidenceKind: String?
    /// The number of refusals that the entry stands for; absent for a single one.
    public var refusals: Int64?
    /// SHA-256 of the evidence as it was sent, in hexadecimal; of counted refusals, of the last one.
    public var evidenceSHA256: String?
    /// The bytes of the evidence as it was sent; absent in lists.
    public var evidenceSize: Int64?
    /// The part of the evidence that is kept: `whole`, `prefix` or `none`; absent in lists.
    public var evidenceKept: String?
    /// The key of the request.
    public var keyID: String?
    public var sourceAddress: String?
    /// The hash of its leaf in the Merkle log, in hexadecimal.
    public var leafHash: String
    /// The number of the leaf, from 0; absent in lists, and for at most a second while the leaf waits for the log.
    public var leafNumber: Int64?
    /// Whether its details were erased.
    public var erased: Bool
    /// The decision about a claim that waited for the App Store.
    public var decision: SubmissionDecision?
    /// The claim that this decision is about.
    public var decides: String?
    /// The entry of the App Store's answer about the claim. Its evidence is the unchanged reply.
    public var appStoreAnswerID: String?
    /// When the App Store is asked again.
    public var nextAttemptAt: String?
    /// The names of fields of the request that the server did not know.
    public var unknownFields: [String]?

    public init(
        submissionID: String, receivedAt: String, verdict: SubmissionVerdict, code: String, replayed: Bool = false,
        restore: Bool = false, leafHash: String, erased: Bool = false
    ) {
        (self.submissionID, self.receivedAt, self.verdict, self.code) = (submissionID, receivedAt, verdict, code)
        (self.replayed, self.restore, self.leafHash, self.erased) = (replayed, restore, leafHash, erased)
    }

    enum CodingKeys: String, CodingKey {
        case verdict, code, expected, found, replayed, restore, quantity, erased, decision, decides, refusals
        case appStoreAnswerID = "app_store_answer_id"
        case nextAttemptAt = "next_attempt_at"
        case unknownFields = "unknown_fields"
        case submissionID = "submission_id"
        case receivedAt = "received_at"
        case customerID = "customer_id"
        case orderID = "order_id"
        case productID = "product_id"
        case transactionID = "transaction_id"
        case evidenceKind = "evidence_kind"
        case evidenceSHA256 = "evidence_sha256"
        case evidenceSize = "evidence_size"
        case evidenceKept = "evidence_kept"
        case keyID = "key_id"
        case sourceAddress = "source_address"
        case leafHash = "leaf_hash"
        case leafNumber = "leaf_number"
    }
}

/// The decision about a claim that waited for the App Store.
public struct SubmissionDecision: Codable, Sendable, Equatable {
    /// The entry of the decision.
    public var submissionID: String
    public var verdict: SubmissionVerdict
    public var code: String
    public var expected: String?
    public var found: String?

    public init(
        submissionID: String, verdict: SubmissionVerdict, code: String, expected: String? = nil, found: String? = nil
    ) {
        (self.submissionID, self.verdict, self.code) = (submissionID, verdict, code)
        (self.expected, self.found) = (expected, found)
    }

    enum CodingKeys: String, CodingKey {
        case verdict, code, expected, found
        case submissionID = "submission_id"
    }
}

/// A page of submissions, newest first. It can be shorter than the limit, or empty, while there is a next page.
public struct SubmissionPage: Codable, Sendable, Equatable {
    public var submissions: [SubmissionMessage]
    /// The cursor of the next page; absent on the last page.
    public var nextCursor: String?

    public init(submissions: [SubmissionMessage], nextCursor: String? = nil) {
        (self.submissions, self.nextCursor) = (submissions, nextCursor)
    }

    enum CodingKeys: String, CodingKey {
        case submissions
        case nextCursor = "next_cursor"
    }
}

/// Purchases: those of a transaction, or a page of a customer's.
public struct TransactionPage: Codable, Sendable, Equatable {
    public var purchases: [TransactionMessage]
    /// The customer into whom the one of the request was merged; absent if they were not.
    public var mergedInto: String?
    /// The cursor of the next page; absent on the last page.
    public var nextCursor: String?

    public init(purchases: [TransactionMessage], nextCursor: String? = nil) {
        (self.purchases, self.nextCursor) = (purchases, nextCursor)
    }

    enum CodingKeys: String, CodingKey {
        case purchases
        case mergedInto = "merged_into"
        case nextCursor = "next_cursor"
    }
}

/// `POST /v1/customers/{id}/tokens`: with this token, the customer's app may read the customer's entitlements.
public struct CustomerTokenMessage: Codable, Sendable, Equatable {
    public var token: String
    public var expiresAt: String

    public init(token: String, expiresAt: String) { (self.token, self.expiresAt) = (token, expiresAt) }

    enum CodingKeys: String, CodingKey {
        case token
        case expiresAt = "expires_at"
    }
}
