/// Evidence of any kind, as a client sends it.
public enum EvidenceKind: String, Sendable, CaseIterable {
    /// PKCS#7 around a set of attributes.
    case appReceipt = "app_receipt"
    /// The property list of iOS 6 and earlier.
    case transactionReceipt = "transaction_receipt"
    /// StoreKit 2's proof of one purchase (JWS).
    case signedTransaction = "signed_transaction"
    /// The renewal state of a subscription (JWS).
    case signedRenewalInfo = "signed_renewal_info"
    /// StoreKit 2's proof of the download of the app (JWS).
    case appTransaction = "app_transaction"
    /// A notification of the App Store server to a backend (JWS).
    case notification
    /// A question of the App Store server about a customer who cancels (JWS).
    case realtimeRequest = "realtime_request"
}
