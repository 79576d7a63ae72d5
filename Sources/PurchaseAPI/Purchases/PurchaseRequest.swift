/// `POST /v1/purchases`: evidence, and the purchase that its sender claims with it.
public struct PurchaseRequest: Codable, Sendable, Equatable {
    /// An app receipt or a transaction receipt, in base64.
    public var receiptData: String?
    /// Any JWS of the App Store that states the transaction: a signed transaction of StoreKit 2, or a notification.
    public var signedTransaction: String?
    public var productID: String
    public var transactionID: String
    /// The order that it pays.
    public var orderID: String?
    /// The customer who receives the purchase.
    public var customerID: String?
    /// The expected quantity, which must equal the purchased one.
    public var quantity: Int64?

    /// A claim with one of the first two, and at least one of order and customer.
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
        case quantity
        case receiptData = "receipt_data"
        case signedTransaction = "signed_transaction"
        case productID = "product_id"
        case transactionID = "transaction_id"
        case orderID = "order_id"
        case customerID = "customer_id"
    }
}

extension PurchaseRequest: RequestMessage {
    public static var ignoresUnknownMembers: Bool { true }

    /// Texts of any length are accepted here, so that a submission that is refused for one of them is recorded with it.
    public init(members: inout RequestMembers) {
        receiptData = members.text(CodingKeys.receiptData)
        signedTransaction = members.text(CodingKeys.signedTransaction)
        if receiptData == nil, signedTransaction == nil {
            members.findMisnamed(RestoreRequest.otherReceiptNames, expected: CodingKeys.receiptData)
            members.findMisnamed(Self.otherTransactionNames, expected: CodingKeys.signedTransaction)
        }
        productID = members.text(CodingKeys.productID) ?? ""
        transactionID = members.text(CodingKeys.transactionID) ?? ""
        orderID = members.text(CodingKeys.orderID)
        customerID = members.text(CodingKeys.customerID)
        quantity = members.quantity(CodingKeys.quantity)
    }

    /// The names of signed transactions in StoreKit and in Apple's APIs.
    private static let otherTransactionNames = ["jwsRepresentation", "signedTransactionInfo", "jws"]

    /// The fields of a claim.
    public static let fields =
        "a JSON object with \(CodingKeys.receiptData.rawValue) or \(CodingKeys.signedTransaction.rawValue), "
        + "\(CodingKeys.productID.rawValue), \(CodingKeys.transactionID.rawValue), and "
        + "\(CodingKeys.orderID.rawValue) or \(CodingKeys.customerID.rawValue)"

    /// The expected value in the answer to a request with both kinds of evidence.
    public static let oneEvidence =
        "\(CodingKeys.receiptData.rawValue) or \(CodingKeys.signedTransaction.rawValue), not both"
}
