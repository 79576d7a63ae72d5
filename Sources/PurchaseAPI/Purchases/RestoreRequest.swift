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

    enum CodingKeys: String, CodingKey {
        case customerID = "customer_id"
        case receiptData = "receipt_data"
        case signedTransactions = "signed_transactions"
    }
}

extension RestoreRequest: RequestMessage {
    public static var ignoresUnknownMembers: Bool { true }

    public init(members: inout RequestMembers) {
        customerID = members.identifier(CodingKeys.customerID)
        receiptData = members.text(CodingKeys.receiptData)
        signedTransactions = members.list(CodingKeys.signedTransactions, limit: Self.signedTransactionLimit)
        let kinds = [receiptData == nil, signedTransactions == nil]
        if !kinds.contains(true) { members.refuse(CodingKeys.receiptData, Self.oneEvidence) }
        if !kinds.contains(false) {
            members.findMisnamed(Self.otherReceiptNames, expected: CodingKeys.receiptData)
            members.miss(Self.evidenceNames)
        }
    }

    /// The names of receipts in the simulator and in StoreKit.
    static let otherReceiptNames = [
        "app_receipt", "transaction_receipt", "receipt", "appStoreReceipt", "transactionReceipt",
    ]

    private static let evidenceNames = "\(CodingKeys.receiptData.rawValue) or \(CodingKeys.signedTransactions.rawValue)"
    private static let oneEvidence = "\(evidenceNames), not both"
}
