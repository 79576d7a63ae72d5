import PurchaseVerification

/// Revokes an API key. Revoking a key again changes nothing.
public struct RevokeAPIKey: LedgerOperation {
    public var id: String

    /// Revokes the key with an id.
    public init(id: String) { self.id = id }

    /// - Returns: the key; `nil` if no key has the id.
    public func perform(_ transaction: LedgerTransaction) throws -> APIKey? {
        let table = APIKeysTable(connection: transaction.connection)
        let isChanged = try table.revoke(id, at: transaction.now)
        guard let row = try table.row(id) else { return nil }
        let name = try AppsTable(connection: transaction.connection).all().first { $0.key == row.appKey }?.name
        let app = try name.map { name throws(LedgerStorageError) in try transaction.appToWrite(name) }
        if isChanged { try transaction.journal.append(transaction.draft(app), KeyRevokedDetails(keyID: id)) }
        return APIKey(row, app: app?.settings.id ?? "")
    }
}
