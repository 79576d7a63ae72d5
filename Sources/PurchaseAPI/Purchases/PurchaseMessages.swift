/// `POST /v1/purchases`: evidence, and what its sender claims that it proves.
public struct PurchaseRequest: Codable, Sendable, Equatable {
    /// An app receipt or a transaction receipt, in base64.
    public var receiptData: String?
    /// A signed transaction of StoreKit 2.
    public var signedTransaction: String?
    public var productID: String
    public var transactionID: String
    /// The order that it pays.
    public var orderID: String?
    /// The customer whom it is for.
    public var customerID: String?
    /// How many, to be compared with what was bought.
    public var quantity: Int64?

    /// A claim; either of the first two, and at least one of order and customer.
    public init(
        receiptData: String? = nil, signedTransaction: String? = nil, productID: String, transactionID: String,
        orderID: String? = nil, customerID: String? = nil, quantity: Int64? = nil
    ) {
        self.receiptData = receiptData
        self.signedTransaction = signedTransaction
        self.productID = productID
        self.transactionID = transactionID
        self.orderID = orderID
        self.customerID = customerID
        self.quantity = quantity
    }

    enum CodingKeys: String, CodingKey {
        case receiptData = "receipt_data"
        case signedTransaction = "signed_transaction"
        case productID = "product_id"
        case transactionID = "transaction_id"
        case orderID = "order_id"
        case customerID = "customer_id"
        case quantity
    }
}

extension PurchaseRequest: RequestMessage {
    /// Texts of any length are taken over: a submission that is refused for one of them is recorded with it.
    public init(members: inout RequestMembers) {
        receiptData = members.text(CodingKeys.receiptData)
        signedTransaction = members.text(CodingKeys.signedTransaction)
        productID = members.text(CodingKeys.productID) ?? ""
        transactionID = members.text(CodingKeys.transactionID) ?? ""
        orderID = members.text(CodingKeys.orderID)
        customerID = members.text(CodingKeys.customerID)
        quantity = members.quantity(CodingKeys.quantity)
    }

    /// What a request with both kinds of evidence is told.
    public static let oneEvidence =
        "\(CodingKeys.receiptData.rawValue) or \(CodingKeys.signedTransaction.rawValue), not both"
}

/// The answer to a purchase that was accepted. One that was rejected is answered with a `ProblemDocument`.
public struct PurchaseAnswer: Codable, Sendable, Equatable {
    public var verdict: SubmissionVerdict
    /// `accepted`.
    public var code: String
    /// Whether the same claim was accepted before; then nothing was granted anew.
    public var replayed: Bool
    /// The submission in the record.
    public var submissionID: String
    public var transaction: TransactionMessage
    /// The order that it paid.
    public var order: OrderMessage?
    /// What the customer may use of the product now.
    public var entitlement: EntitlementMessage?

    /// An answer by its parts.
    public init(
        verdict: SubmissionVerdict, code: String, replayed: Bool, submissionID: String, transaction: TransactionMessage,
        order: OrderMessage?, entitlement: EntitlementMessage?
    ) {
        self.verdict = verdict
        self.code = code
        self.replayed = replayed
        self.submissionID = submissionID
        self.transaction = transaction
        self.order = order
        self.entitlement = entitlement
    }

    enum CodingKeys: String, CodingKey {
        case verdict, code, replayed, transaction, order, entitlement
        case submissionID = "submission_id"
    }
}

/// A purchase as it is recorded.
public struct TransactionMessage: Codable, Sendable, Equatable {
    public var transactionID: String
    public var originalTransactionID: String
    public var productID: String
    public var productType: ProductType
    public var quantity: Int64
    public var environment: EnvironmentName
    public var customerID: String
    public var orderID: String?
    public var kind: Kind
    public var state: State
    public var purchasedAt: String
    public var expiresAt: String?
    public var withdrawnAt: String?
    public var recordedAt: String
    /// The submission that was accepted.
    public var submissionID: String

    /// A purchase by its parts.
    public init(
        transactionID: String, originalTransactionID: String, productID: String, productType: ProductType,
        quantity: Int64, environment: EnvironmentName, customerID: String, orderID: String?, kind: Kind, state: State,
        purchasedAt: String, expiresAt: String?, withdrawnAt: String?, recordedAt: String, submissionID: String
    ) {
        self.transactionID = transactionID
        self.originalTransactionID = originalTransactionID
        self.productID = productID
        self.productType = productType
        self.quantity = quantity
        self.environment = environment
        self.customerID = customerID
        self.orderID = orderID
        self.kind = kind
        self.state = state
        self.purchasedAt = purchasedAt
        self.expiresAt = expiresAt
        self.withdrawnAt = withdrawnAt
        self.recordedAt = recordedAt
        self.submissionID = submissionID
    }

    enum CodingKeys: String, CodingKey {
        case transactionID = "transaction_id"
        case originalTransactionID = "original_transaction_id"
        case productID = "product_id"
        case productType = "product_type"
        case quantity, environment, kind, state
        case customerID = "customer_id"
        case orderID = "order_id"
        case purchasedAt = "purchased_at"
        case expiresAt = "expires_at"
        case withdrawnAt = "withdrawn_at"
        case recordedAt = "recorded_at"
        case submissionID = "submission_id"
    }
}

/// Purchases: those of a transaction, or a page of a customer's.
public struct TransactionList: Codable, Sendable, Equatable {
    public var purchases: [TransactionMessage]
    /// Where the next page begins; absent on the last.
    public var nextCursor: String?

    /// A page.
    public init(purchases: [TransactionMessage], nextCursor: String?) {
        self.purchases = purchases
        self.nextCursor = nextCursor
    }

    enum CodingKeys: String, CodingKey {
        case purchases
        case nextCursor = "next_cursor"
    }
}
