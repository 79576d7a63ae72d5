import PurchaseVerification

/// `extension_requested`.
struct ExtensionRequestedDetails: JournalDetails {
    static var kind: JournalKind { .extensionRequested }
    var requestID: String
    var environment: String
    var originalID: String
    var originalSecond: Int64?
    var days: Int64
    var extensionReason: String
    /// The operator's reason.
    var reason: String

    var original: OriginalKey {
        OriginalKey(
            environment: AppStoreEnvironment(environment), transactionID: ExactText(originalID),
            second: originalSecond ?? 0)
    }
}
