/// A customer's request for a refund, about which Apple asked the server.
public struct RefundRequestMessage: Codable, Sendable, Equatable {
    /// The entry of Apple's question.
    public var entryID: String
    public var environment: EnvironmentName
    public var transactionID: String
    public var originalTransactionID: String
    public var productID: String?
    /// The present owner of the purchase.
    public var customerID: String?
    /// The customer's reason (Apple, "consumptionRequestReason").
    public var reason: String?
    public var askedAt: String
    /// How many notifications asked about it: Apple can repeat one under another id.
    public var asked: Int64
    /// Until when Apple takes an answer.
    public var deadline: String
    /// `open`, `sent`, `declined`, `closed` or `expired`.
    public var state: String
    /// When Apple took the answer, or when it was decided to send none.
    public var answeredAt: String?
    /// What was sent.
    public var answer: Answer?
    /// Why nothing was sent, or Apple's refusal.
    public var refusal: String?
    /// Apple's number of the refusal.
    public var appStoreNumber: Int64?
    /// Apple's decision: `REFUND` or `REFUND_DECLINED`.
    public var closedBy: String?
    public var closedAt: String?

    /// What Apple was told.
    public struct Answer: Codable, Sendable, Equatable {
        public var delivered: Bool
        /// The used part in thousandths of a percent; absent if it is not measured.
        public var consumptionPercentage: Int64?
        /// `decline`, `grant_full` or `grant_prorated`; absent without a preference.
        public var refundPreference: String?
        public var sampleContentProvided: Bool
        /// The units of a consumable, and how many of them its owner took.
        public var quantity: Int64?
        public var used: Int64?

        public init(
            delivered: Bool, consumptionPercentage: Int64?, refundPreference: String?, sampleContentProvided: Bool,
            quantity: Int64? = nil, used: Int64? = nil
        ) {
            (self.delivered, self.consumptionPercentage) = (delivered, consumptionPercentage)
            (self.refundPreference, self.sampleContentProvided) = (refundPreference, sampleContentProvided)
            (self.quantity, self.used) = (quantity, used)
        }

        enum CodingKeys: String, CodingKey {
            case delivered, quantity, used
            case consumptionPercentage = "consumption_percentage"
            case refundPreference = "refund_preference"
            case sampleContentProvided = "sample_content_provided"
        }
    }

    public init(
        entryID: String, environment: EnvironmentName, transactionID: String, originalTransactionID: String,
        askedAt: String, asked: Int64 = 1, deadline: String, state: String
    ) {
        (self.entryID, self.environment, self.transactionID) = (entryID, environment, transactionID)
        (self.originalTransactionID, self.askedAt, self.asked) = (originalTransactionID, askedAt, asked)
        (self.deadline, self.state) = (deadline, state)
    }

    enum CodingKeys: String, CodingKey {
        case environment, reason, asked, deadline, state, answer, refusal
        case entryID = "entry_id"
        case transactionID = "transaction_id"
        case originalTransactionID = "original_transaction_id"
        case productID = "product_id"
        case customerID = "customer_id"
        case askedAt = "asked_at"
        case answeredAt = "answered_at"
        case appStoreNumber = "app_store_number"
        case closedBy = "closed_by"
        case closedAt = "closed_at"
    }
}

/// `GET /v1/refund_requests`: a page of refund requests, the newest first.
public struct RefundRequestPage: Codable, Sendable, Equatable {
    public var refundRequests: [RefundRequestMessage]
    /// The parameter `cursor` of the next request; absent on the last page.
    public var nextCursor: String?

    public init(refundRequests: [RefundRequestMessage], nextCursor: String? = nil) {
        (self.refundRequests, self.nextCursor) = (refundRequests, nextCursor)
    }

    enum CodingKeys: String, CodingKey {
        case refundRequests = "refund_requests"
        case nextCursor = "next_cursor"
    }
}
