import Crypto
import PurchaseVerification

/// Finds the key with the secret that was sent, if the key is valid and not revoked. Its app may be missing in the
/// settings.
public struct APIKeyLookup: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var text: APIKeyText

    /// Looks up a key that was sent.
    public init(_ text: APIKeyText) { self.text = text }

    public func answer(_ reader: LedgerTransaction) throws -> APIKey? {
        guard let row = try APIKeysTable(connection: reader.connection).row(text.id), row.revokedAt == nil,
            // The comparison of the digests takes constant time.
            text.digest == row.secretSHA256
        else { return nil }
        if let app = reader.registry.app(key: row.appKey) { return APIKey(row, app: app.settings.id) }
        let apps = try AppsTable(connection: reader.connection).all()
        return APIKey(row, app: apps.first { $0.key == row.appKey }?.name ?? "")
    }
}
