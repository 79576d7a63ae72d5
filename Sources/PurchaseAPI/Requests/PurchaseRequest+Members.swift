public import PurchaseMessages

extension PurchaseRequest: RequestMessage {
    public static var ignoresUnknownMembers: Bool { true }

    /// Texts of any length are accepted here, so that a submission that is refused for one of them is recorded with it.
    public init(members: inout RequestMembers) {
        let receiptData = members.text(CodingKeys.receiptData)
        let signedTransaction = members.text(CodingKeys.signedTransaction)
        if receiptData == nil, signedTransaction == nil {
            members.findMisnamed(RestoreRequest.otherReceiptNames, expected: CodingKeys.receiptData)
            members.findMisnamed(Self.otherTransactionNames, expected: CodingKeys.signedTransaction)
        }
        // In this order, because the first flaw is reported.
        let productID = members.text(CodingKeys.productID) ?? ""
        let transactionID = members.text(CodingKeys.transactionID) ?? ""
        let orderID = members.text(CodingKeys.orderID)
        let customerID = members.text(CodingKeys.customerID)
        self.init(
            receiptData: receiptData, signedTransaction: signedTransaction, productID: productID,
            transactionID: transactionID, orderID: orderID, customerID: customerID,
            quantity: members.quantity(CodingKeys.quantity), guest: members.flag(CodingKeys.guest),
            account: members.flag(CodingKeys.account))
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

extension RestoreRequest: RequestMessage {
    public static var ignoresUnknownMembers: Bool { true }

    public init(members: inout RequestMembers) {
        let customerID = members.identifier(CodingKeys.customerID)
        let receiptData = members.text(CodingKeys.receiptData)
        let signedTransactions = members.list(CodingKeys.signedTransactions, limit: Self.signedTransactionLimit)
        let kinds = [receiptData == nil, signedTransactions == nil]
        if !kinds.contains(true) { members.refuse(CodingKeys.receiptData, Self.oneEvidence) }
        if !kinds.contains(false) {
            members.findMisnamed(Self.otherReceiptNames, expected: CodingKeys.receiptData)
            members.miss(Self.evidenceNames)
        }
        self.init(
            customerID: customerID, receiptData: receiptData, signedTransactions: signedTransactions,
            appTransaction: members.text(CodingKeys.appTransaction), requested: members.flag(CodingKeys.requested),
            guest: members.flag(CodingKeys.guest), account: members.flag(CodingKeys.account))
    }

    /// The names of receipts in the simulator and in StoreKit.
    static let otherReceiptNames = [
        "app_receipt", "transaction_receipt", "receipt", "appStoreReceipt", "transactionReceipt",
    ]

    private static let evidenceNames = "\(CodingKeys.receiptData.rawValue) or \(CodingKeys.signedTransactions.rawValue)"
    private static let oneEvidence = "\(evidenceNames), not both"
}
