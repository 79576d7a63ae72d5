/// Evidence of any kind that the verifier vouches for. Only `PurchaseVerifier` creates its values.
public enum VerifiedEvidence: Sendable, Equatable {
    case appReceipt(AppReceipt)
    case transactionReceipt(TransactionReceipt)
    case signedTransaction(SignedTransaction)
    case signedRenewalInfo(SignedRenewalInfo)
    case appTransaction(SignedAppTransaction)
    case notification(AppStoreNotification)
    case realtimeRequest(RealtimeRequest)

    public var kind: EvidenceKind {
        switch self {
        case .appReceipt: .appReceipt
        case .transactionReceipt: .transactionReceipt
        case .signedTransaction: .signedTransaction
        case .signedRenewalInfo: .signedRenewalInfo
        case .appTransaction: .appTransaction
        case .notification: .notification
        case .realtimeRequest: .realtimeRequest
        }
    }

    /// The facts that all kinds have in common.
    public var facts: any EvidenceFacts {
        switch self {
        case .appReceipt(let receipt): receipt
        case .transactionReceipt(let receipt): receipt
        case .signedTransaction(let transaction): SignedTransactionFacts(content: transaction)
        case .signedRenewalInfo(let renewalInfo): SignedRenewalInfoFacts(content: renewalInfo)
        case .appTransaction(let transaction): AppTransactionFacts(content: transaction)
        case .notification(let notification): notification
        case .realtimeRequest(let request): RealtimeRequestFacts(content: request)
        }
    }
}
