/// `POST /v1/restores`: evidence from which a customer gets every purchase that is theirs.
public struct RestoreRequest: Codable, Sendable, Equatable {
    public var customerID: String
    /// An app receipt or a transaction receipt, in base64.
    public var receiptData: String?
    /// Signed transactions of StoreKit 2.
    public var signedTransactions: [String]?

    /// The maximum number of signed transactions in one request.
    public static let signedTransactionLimit = 100

    /// The evidence of a customer; either of the two kinds.
    public init(customerID: String, receiptData: String? = nil, signedTransactions: [String]? = nil) {
        self.customerID = customerID
        self.receiptData = receiptData
        self.signedTransactions = signedTransactions
    }

    package enum CodingKeys: String, CodingKey {
        case customerID = "customer_id"
        case receiptData = "receipt_data"
        case signedTransactions = "signed_transactions"
    }
}
