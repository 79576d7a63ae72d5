import PurchaseVerification

/// Creates an API key. The app need not be in the settings yet, so a key can be created before the first start.
public struct CreateAPIKey: LedgerOperation {
    public var app: String
    public var name: String
    public var scopes: Set<APIKeyScope>

    /// Creates a key for an app.
    public init(app: String, name: String, scopes: Set<APIKeyScope>) {
        self.app = app
        self.name = name
        self.scopes = scopes
    }

    /// A new key with its text, which cannot be read again later.
    public struct Outcome: Sendable {
        public var key: APIKey
        public var text: String
    }

    public func perform(_ transaction: LedgerTransaction) throws -> Outcome {
        guard ExactText(app).isIdentifier, app.utf8.count <= RegisteredApp.nameBytes else {
            throw LedgerRefusal(.appNameTooLong, expected: "1 to 255 bytes", found: "\(app.utf8.count)")
        }
        let app = try transaction.appToWrite(app)
        let text = APIKeyText.random()
        let row = APIKeyRow(
            id: text.id, appKey: app.key, name: name, scopes: scopes, secretSHA256: Array(text.digest),
            createdAt: transaction.now)
        try APIKeysTable(connection: transaction.connection).insert(row)
        try transaction.journal.append(
            transaction.draft(app),
            KeyCreatedDetails(
                keyID: row.id, name: name, scopes: scopes.map(\.rawValue).sorted(),
                secretSHA256: row.secretSHA256.hexadecimal))
        return Outcome(key: APIKey(row, app: app.settings.id), text: text.text)
    }
}
