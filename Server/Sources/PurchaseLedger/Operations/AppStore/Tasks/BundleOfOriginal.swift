public import PurchaseVerification

/// The bundle id of the app in which an original was bought; `nil` if it is not known.
public struct BundleOfOriginal: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var environment: AppStoreEnvironment
    public var originalTransactionID: String

    public init(_ originalTransactionID: String, in environment: AppStoreEnvironment) {
        (self.originalTransactionID, self.environment) = (originalTransactionID, environment)
    }

    public func answer(_ reader: LedgerTransaction) throws -> String? {
        guard let number = try reader.environments.key(of: environment),
            let original = try OriginalsTable(connection: reader.connection)
                .rows(id: originalTransactionID, environment: number).first,
            let row = try reader.transactions.rows(originalKey: original.key, limit: 1).first, !row.isErased
        else { return nil }
        return try row.observed(in: environment).bundleID?.string
    }
}
