public import PurchaseMessages

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
        self.init(customerID: customerID, receiptData: receiptData, signedTransactions: signedTransactions)
    }

    /// The names of receipts in the simulator and in StoreKit.
    static let otherReceiptNames = [
        "app_receipt", "transaction_receipt", "receipt", "appStoreReceipt", "transactionReceipt",
    ]

    private static let evidenceNames = "\(CodingKeys.receiptData.rawValue) or \(CodingKeys.signedTransactions.rawValue)"
    private static let oneEvidence = "\(evidenceNames), not both"
}
