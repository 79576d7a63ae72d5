public import PurchaseVerification

/// The customer who owns the newest period of a subscription.
public struct OwnerOfSubscription: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var originalTransactionID: String
    public var environment: AppStoreEnvironment

    public init(app: String, originalTransactionID: String, environment: AppStoreEnvironment) {
        self.app = app
        self.originalTransactionID = originalTransactionID
        self.environment = environment
    }

    /// - Returns: their name, after all merges, and the period; `nil` if the subscription is not known, or nobody owns
    ///   it.
    public func answer(_ reader: LedgerTransaction) throws -> (customerID: String, transactionID: String)? {
        let app = try reader.app(app)
        guard let key = try reader.environments.key(of: environment) else { return nil }
        let originals = try OriginalsTable(connection: reader.connection)
            .rows(id: originalTransactionID, environment: key)
        guard let original = originals.first(where: { $0.appKey == app.key }) else { return nil }
        let rows = try reader.transactions.rows(originalKey: original.key)
        guard let newest = rows.filter({ !$0.isErased }).max(by: { $0.knownAt < $1.knownAt }),
            let owner = newest.ownerKey,
            let name = try reader.customers.surviving(try reader.customers.row(owner)).name
        else { return nil }
        return (name, newest.transactionID)
    }
}

extension PurchaseLedger {
    /// Verifies a realtime request of the Retention Messaging API. It is not kept: it proves no purchase.
    ///
    /// - Throws: `evidence_unrecognized` if it is other signed data.
    public func verifiedRealtimeRequest(_ signedPayload: [UInt8]) throws(VerificationError) -> RealtimeRequest {
        let verified = try verifier.verify(try Evidence(signedPayload), policies: [])
        guard case .realtimeRequest(let request) = verified else {
            throw VerificationError(
                .evidenceUnrecognized, expected: EvidenceKind.realtimeRequest.rawValue, found: verified.kind.rawValue)
        }
        return request
    }
}
