import PurchaseVerification

/// All API keys, oldest first, without their secrets.
public struct APIKeyList: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// All keys.
    public init() {}

    public func answer(_ reader: LedgerTransaction) throws -> [APIKey] {
        let names = Dictionary(
            uniqueKeysWithValues: try AppsTable(connection: reader.connection).all().map { ($0.key, $0.name) })
        let uses = try KeyUsesTable(connection: reader.connection).all()
        return try APIKeysTable(connection: reader.connection).all().map {
            var key = APIKey($0, app: names[$0.appKey] ?? "")
            key.usedAt = uses[key.id]
            return key
        }
    }
}
