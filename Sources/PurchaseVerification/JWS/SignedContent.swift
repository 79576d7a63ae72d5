// The kinds of signed content, verified and unverified.

/// A signed transaction of StoreKit 2 that the verifier vouches for.
public typealias SignedTransaction = SignedContent<TransactionClaims, VerifiedContent>
/// Signed renewal info that the verifier vouches for.
public typealias SignedRenewalInfo = SignedContent<RenewalInfoClaims, VerifiedContent>
/// A realtime request that the verifier vouches for.
public typealias RealtimeRequest = SignedContent<RealtimeRequestClaims, VerifiedContent>
/// An app transaction that the verifier vouches for.
public typealias SignedAppTransaction = SignedContent<AppTransactionClaims, VerifiedContent>

/// The same, read from unverified bytes: for display, never for granting. Only `inspect` creates one.
public typealias UnverifiedSignedTransaction = SignedContent<TransactionClaims, UnverifiedContent>
/// The same, read from unverified bytes.
public typealias UnverifiedSignedRenewalInfo = SignedContent<RenewalInfoClaims, UnverifiedContent>
/// The same, read from unverified bytes.
public typealias UnverifiedSignedAppTransaction = SignedContent<AppTransactionClaims, UnverifiedContent>
/// The same, read from unverified bytes.
public typealias UnverifiedRealtimeRequest = SignedContent<RealtimeRequestClaims, UnverifiedContent>

/// The content of signed data: its claims are readable like its own properties, such as `transaction.productID`. The
/// second type parameter says whether it was verified; there is no public initialiser.
@dynamicMemberLookup
public struct SignedContent<Claims: SignedClaims, Trust>: Sendable {
    let claims: Claims
    /// The signed payload: a JSON object in UTF-8, with every claim as Apple wrote it.
    public let payload: [UInt8]

    init(_ claims: Claims, payload: [UInt8]) {
        self.claims = claims
        self.payload = payload
    }

    public subscript<Value>(dynamicMember claim: KeyPath<Claims, Value>) -> Value { claims[keyPath: claim] }
}

extension SignedContent: Equatable {
    /// Two are equal if their signed payloads are the same bytes.
    public static func == (left: SignedContent, right: SignedContent) -> Bool { left.payload == right.payload }
}

extension SignedContent where Claims == TransactionClaims {
    /// The environment of the purchase. Data of 2021 does not state it; then the transaction id determines it.
    public var environment: AppStoreEnvironment {
        claims.statedEnvironment.map { AppStoreEnvironment($0) }
            ?? SandboxIdentifier.environment(
                transactionID: claims.transactionID, unsigned: nil, at: claims.signedDate)
    }
}

extension SignedContent where Claims == RenewalInfoClaims {
    /// The environment of the subscription. Data of 2021 does not state it; then the transaction id determines it.
    public var environment: AppStoreEnvironment {
        claims.statedEnvironment.map { AppStoreEnvironment($0) }
            ?? SandboxIdentifier.environment(
                transactionID: claims.originalTransactionID, unsigned: nil, at: claims.signedDate)
    }
}

extension SignedContent where Claims == RealtimeRequestClaims {
    /// The environment of the subscription. If it is not stated, the transaction id determines it.
    public var environment: AppStoreEnvironment {
        claims.statedEnvironment.map { AppStoreEnvironment($0) }
            ?? SandboxIdentifier.environment(
                transactionID: claims.originalTransactionID, unsigned: nil, at: claims.signedDate)
    }
}

extension SignedContent where Claims == AppTransactionClaims {
    /// The environment from which the app was obtained; `nil` if it is not stated.
    public var environment: AppStoreEnvironment? { claims.receiptType.map { AppStoreEnvironment($0) } }
}

/// A server notification that the verifier vouches for, with the signed data in it.
public typealias AppStoreNotification = NotificationContent<VerifiedContent>
/// The same, read from unverified bytes.
public typealias UnverifiedAppStoreNotification = NotificationContent<UnverifiedContent>

/// The content of a server notification of version 2, and of the signed data that it carries.
@dynamicMemberLookup
public struct NotificationContent<Trust>: Sendable {
    let claims: NotificationClaims
    /// The signed payload: a JSON object in UTF-8, with every claim as Apple wrote it.
    public let payload: [UInt8]
    /// `data.signedTransactionInfo`.
    public let transaction: SignedContent<TransactionClaims, Trust>?
    /// `data.signedRenewalInfo`.
    public let renewalInfo: SignedContent<RenewalInfoClaims, Trust>?
    /// `appData.signedAppTransactionInfo`.
    public let appTransaction: SignedContent<AppTransactionClaims, Trust>?

    init(
        _ claims: NotificationClaims, payload: [UInt8],
        transaction: SignedContent<TransactionClaims, Trust>? = nil,
        renewalInfo: SignedContent<RenewalInfoClaims, Trust>? = nil,
        appTransaction: SignedContent<AppTransactionClaims, Trust>? = nil
    ) {
        self.claims = claims
        self.payload = payload
        self.transaction = transaction
        self.renewalInfo = renewalInfo
        self.appTransaction = appTransaction
    }

    public subscript<Value>(dynamicMember claim: KeyPath<NotificationClaims, Value>) -> Value {
        claims[keyPath: claim]
    }

    /// The bundle id of the app that it is about.
    public var bundleID: String? {
        claims.data?.bundleID ?? claims.summary?.bundleID ?? claims.appData?.bundleID
            ?? claims.externalPurchaseToken?.bundleID ?? claims.unclaimInfo?.bundleID ?? claims.unknownBody.bundleID
    }

    /// The App Store's number of the app; absent outside of production.
    public var appAppleID: UInt64? {
        claims.data?.appAppleID ?? claims.summary?.appAppleID ?? claims.appData?.appAppleID
            ?? claims.externalPurchaseToken?.appAppleID ?? claims.unclaimInfo?.appAppleID
            ?? claims.unknownBody.appAppleID
    }

    /// The environment of the notification; `nil` if it is not stated.
    public var environment: AppStoreEnvironment? {
        (claims.data?.environment ?? claims.summary?.environment ?? claims.appData?.environment
            ?? claims.unclaimInfo?.environment ?? claims.unknownBody.environment)
            .map { AppStoreEnvironment($0) } ?? claims.externalPurchaseToken?.environment
    }
}

extension NotificationContent: Equatable {
    /// Two are equal if their signed payloads have the same bytes, including nested data.
    public static func == (left: NotificationContent, right: NotificationContent) -> Bool {
        left.payload == right.payload
    }
}
