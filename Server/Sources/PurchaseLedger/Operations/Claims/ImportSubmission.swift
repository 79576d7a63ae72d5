public import PurchaseVerification

/// One row of an import: a customer's purchases in an existing system.
public struct ImportSubmission: Sendable {
    public var customerID: String
    /// Receipts and signed transactions. All of their purchases are claimed.
    public var evidence: [[UInt8]]
    /// An order that one of the purchases pays.
    public var orderID: String?
    /// When the existing system received the evidence. The time is recorded and affects no decision.
    public var importedAt: Timestamp?

    /// A row of an import.
    public init(customerID: String, evidence: [[UInt8]], orderID: String? = nil, importedAt: Timestamp? = nil) {
        self.customerID = customerID
        self.evidence = evidence
        self.orderID = orderID
        self.importedAt = importedAt
    }
}

extension PurchaseLedger {
    /// Verifies the evidence of a row. It holds no lock, so rows can be verified on several cores.
    public func examine(_ submission: ImportSubmission, app: String) -> ExaminedImport {
        ExaminedImport(submission: submission, evidence: submission.evidence.map { examine($0) })
    }
}
