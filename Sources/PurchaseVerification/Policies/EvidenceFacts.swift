/// The facts that policies use, for every kind of evidence. A fact that a kind does not state is `nil`.
public protocol EvidenceFacts {
    var kind: EvidenceKind { get }
    /// The bundle id of the app.
    var bundleID: String? { get }
    /// The version of the app.
    var applicationVersion: String? { get }
    /// The environment of the purchase.
    var environment: AppStoreEnvironment? { get }
    /// The App Store's number of the app.
    var appAppleID: UInt64? { get }
    /// When the evidence was signed.
    var signingDate: AppStoreTime? { get }
    /// When the evidence itself expires, which only receipts of the Volume Purchase Program do.
    var expirationDate: AppStoreTime? { get }
    /// The transactions that it proves, in its order.
    var transactions: [TransactionFacts] { get }

    /// Checks that the evidence was made for the device.
    ///
    /// - Throws: `device_hash_mismatch`, or `attribute_missing` if it names no device.
    func requireDevice(_ device: DeviceIdentifier) throws(VerificationError)
}

extension AppReceiptContent: EvidenceFacts {
    public var kind: EvidenceKind { .appReceipt }
    public var signingDate: AppStoreTime? { creationDate }

    public var transactions: [TransactionFacts] {
        inAppPurchases.map { purchase in
            TransactionFacts(
                transactionID: purchase.transactionID, originalTransactionID: purchase.originalTransactionID,
                productID: purchase.productID, quantity: purchase.quantity, purchaseDate: purchase.purchaseDate)
        }
    }
}

extension TransactionReceiptContent: EvidenceFacts {
    public var kind: EvidenceKind { .transactionReceipt }
    public var signingDate: AppStoreTime? { purchaseDate }
    public var expirationDate: AppStoreTime? { nil }

    public var transactions: [TransactionFacts] {
        [
            TransactionFacts(
                transactionID: transactionID, originalTransactionID: originalTransactionID, productID: productID,
                quantity: quantity, purchaseDate: purchaseDate)
        ]
    }
}

/// The facts of signed data of one kind.
struct SignedTransactionFacts<Trust>: EvidenceFacts {
    let content: SignedContent<TransactionClaims, Trust>

    var kind: EvidenceKind { .signedTransaction }
    var bundleID: String? { content.bundleID }
    var applicationVersion: String? { nil }
    var environment: AppStoreEnvironment? { content.environment }
    var appAppleID: UInt64? { nil }
    var signingDate: AppStoreTime? { content.signedDate }
    var expirationDate: AppStoreTime? { nil }

    var transactions: [TransactionFacts] {
        guard !content.transactionID.isEmpty else { return [] }
        return [
            TransactionFacts(
                transactionID: content.transactionID, originalTransactionID: content.originalTransactionID,
                productID: content.productID, quantity: content.quantity, purchaseDate: content.purchaseDate)
        ]
    }

    func requireDevice(_ device: DeviceIdentifier) throws(VerificationError) {
        try DeviceVerification.require(
            device, hash: content.deviceVerification, nonce: content.deviceVerificationNonce)
    }
}

/// The facts of signed renewal info, which names no app.
struct SignedRenewalInfoFacts<Trust>: EvidenceFacts {
    let content: SignedContent<RenewalInfoClaims, Trust>

    var kind: EvidenceKind { .signedRenewalInfo }
    var bundleID: String? { nil }
    var applicationVersion: String? { nil }
    var environment: AppStoreEnvironment? { content.environment }
    var appAppleID: UInt64? { nil }
    var signingDate: AppStoreTime? { content.signedDate }
    var expirationDate: AppStoreTime? { nil }
    /// Renewal info describes the next renewal and proves no transaction.
    var transactions: [TransactionFacts] { [] }

    func requireDevice(_ device: DeviceIdentifier) throws(VerificationError) {
        try DeviceVerification.require(
            device, hash: content.deviceVerification, nonce: content.deviceVerificationNonce)
    }
}

/// The facts of an app transaction.
struct AppTransactionFacts<Trust>: EvidenceFacts {
    let content: SignedContent<AppTransactionClaims, Trust>

    var kind: EvidenceKind { .appTransaction }
    var bundleID: String? { content.bundleID }
    var applicationVersion: String? { content.applicationVersion }
    var environment: AppStoreEnvironment? { content.environment }
    var appAppleID: UInt64? { content.appAppleID }
    var signingDate: AppStoreTime? { content.creationDate ?? content.signedDate }
    var expirationDate: AppStoreTime? { nil }
    /// It proves the download of the app, and no in-app purchase.
    var transactions: [TransactionFacts] { [] }

    func requireDevice(_ device: DeviceIdentifier) throws(VerificationError) {
        try DeviceVerification.require(
            device, hash: content.deviceVerification, nonce: content.deviceVerificationNonce)
    }
}

/// The facts of a realtime request, which names the app by its number alone.
struct RealtimeRequestFacts<Trust>: EvidenceFacts {
    let content: SignedContent<RealtimeRequestClaims, Trust>

    var kind: EvidenceKind { .realtimeRequest }
    var bundleID: String? { nil }
    var applicationVersion: String? { nil }
    var environment: AppStoreEnvironment? { content.environment }
    var appAppleID: UInt64? { content.appAppleID }
    var signingDate: AppStoreTime? { content.signedDate }
    var expirationDate: AppStoreTime? { nil }
    /// It asks about a subscription and proves no transaction.
    var transactions: [TransactionFacts] { [] }

    /// A realtime request is made for a server.
    func requireDevice(_ device: DeviceIdentifier) throws(VerificationError) {
        throw VerificationError(.attributeMissing, expected: "a device")
    }
}

extension NotificationContent: EvidenceFacts {
    public var kind: EvidenceKind { .notification }
    public var applicationVersion: String? { claims.data?.bundleVersion }

    /// The signing date; if it is absent, the latest date of the nested signed payloads.
    public var signingDate: AppStoreTime? {
        claims.signedDate
            ?? [
                transaction?.signedDate, renewalInfo?.signedDate, appTransaction?.creationDate,
                appTransaction?.signedDate,
            ].compactMap(\.self).max()
    }

    public var expirationDate: AppStoreTime? { nil }

    public var transactions: [TransactionFacts] {
        transaction.map { SignedTransactionFacts(content: $0).transactions } ?? []
    }

    /// A notification is made for a server.
    public func requireDevice(_ device: DeviceIdentifier) throws(VerificationError) {
        throw VerificationError(.attributeMissing, expected: "a device")
    }
}
