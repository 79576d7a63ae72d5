/// The nested data of a notification that was verified so far.
struct NestedSignedPayload {
    private(set) var transaction: SignedTransaction?
    private(set) var renewalInfo: SignedRenewalInfo?
    private(set) var appTransaction: SignedAppTransaction?
    /// The environment of the data that was added last.
    private(set) var environment: AppStoreEnvironment?

    /// Adds nested data, whose kind must not be present yet, and whose app and environment must be the envelope's.
    mutating func add<Trust>(
        _ claims: AnySignedClaims, _ payload: [UInt8], of envelope: NotificationContent<Trust>
    ) throws(VerificationError) {
        switch claims {
        case .transaction(let claims) where transaction == nil:
            let content = SignedTransaction(claims, payload: payload)
            transaction = content
            try require(content.environment, claims.bundleID, of: envelope)
        case .renewalInfo(let claims) where renewalInfo == nil:
            let content = SignedRenewalInfo(claims, payload: payload)
            renewalInfo = content
            try require(content.environment, nil, of: envelope)
        case .appTransaction(let claims) where appTransaction == nil:
            let content = SignedAppTransaction(claims, payload: payload)
            appTransaction = content
            try require(content.environment, claims.bundleID, of: envelope)
        default:
            throw VerificationError(
                .nestedDataMismatch, expected: "a transaction, renewal info or an app transaction, each once",
                found: claims.kind.rawValue)
        }
    }

    private mutating func require<Trust>(
        _ environment: AppStoreEnvironment?, _ bundleID: String?, of envelope: NotificationContent<Trust>
    ) throws(VerificationError) {
        self.environment = environment
        guard environment == envelope.environment else {
            throw VerificationError(
                .nestedDataMismatch, expected: envelope.environment?.name, found: environment?.name)
        }
        guard bundleID.map({ $0.isSame(as: envelope.bundleID) }) ?? true else {
            throw VerificationError(.nestedDataMismatch, expected: envelope.bundleID, found: bundleID)
        }
    }
}
