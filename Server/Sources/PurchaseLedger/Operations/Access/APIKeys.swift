import Crypto
public import PurchaseVerification

extension APIKey {
    init(_ row: APIKeyRow, app: String) {
        self.init(
            id: row.id, app: app, name: row.name, scopes: row.scopes, createdAt: row.createdAt, revokedAt: row.revokedAt
        )
    }
}

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
        let table = AppsTable(connection: reader.connection)
        let name = reader.registry.app(key: row.appKey)?.settings.id
        var key = APIKey(row, app: try name ?? table.all().first { $0.key == row.appKey }?.name ?? "")
        // The settings that this process knows can be older than the move.
        key.movedTo = try table.moved()[row.appKey]?.place
        return key
    }
}

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
        try transaction.requireHere(app)
        let text = APIKeyText.random()
        let details = KeyCreatedDetails(
            keyID: text.id, name: name, scopes: scopes.map(\.rawValue).sorted(),
            secretSHA256: Array(text.digest).hexadecimal)
        try details.run(try transaction.append(transaction.draft(app), details))
        let key = APIKey(id: text.id, app: app.settings.id, name: name, scopes: scopes, createdAt: transaction.now)
        return Outcome(key: key, text: text.text)
    }
}

/// Revokes an API key. Revoking a key again changes nothing.
public struct RevokeAPIKey: LedgerOperation {
    public var id: String

    /// Revokes the key with an id.
    public init(id: String) { self.id = id }

    /// - Returns: the key; `nil` if no key has the id.
    public func perform(_ transaction: LedgerTransaction) throws -> APIKey? {
        let table = APIKeysTable(connection: transaction.connection)
        guard var row = try table.row(id) else { return nil }
        let name = try AppsTable(connection: transaction.connection).all().first { $0.key == row.appKey }?.name
        let app = try name.map { name throws(LedgerStorageError) in try transaction.appToWrite(name) }
        if row.revokedAt == nil {
            let details = KeyRevokedDetails(keyID: id)
            try details.run(try transaction.append(transaction.draft(app), details))
            row.revokedAt = transaction.now
        }
        return APIKey(row, app: app?.settings.id ?? "")
    }
}

/// Notes when API keys were last used. It is no part of the journal.
public struct NoteKeyUses: LedgerOperation {
    /// The last use of each key, by its id.
    public var uses: [String: Timestamp]

    /// Notes uses.
    public init(_ uses: [String: Timestamp]) { self.uses = uses }

    public var locks: LedgerLocks { .parts([]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        let table = KeyUsesTable(connection: transaction.connection)
        // In one order, so that two servers never wait for each other.
        for (id, time) in uses.sorted(by: { $0.key < $1.key }) { try table.note(id, at: time) }
    }
}

/// `key_created`.
struct KeyCreatedDetails: LedgerInput {
    static var kind: JournalKind { .keyCreated }
    var keyID: String
    var name: String
    var scopes: [String]
    var secretSHA256: String

    func run(_ write: EntryWrite) throws {
        try APIKeysTable(connection: write.connection).insert(
            APIKeyRow(
                id: keyID, appKey: write.app.key, name: name,
                scopes: Set(scopes.compactMap(APIKeyScope.init(rawValue:))),
                secretSHA256: [UInt8](hexadecimal: secretSHA256), createdAt: write.transaction.now))
    }
}

/// `key_revoked`.
struct KeyRevokedDetails: LedgerInput {
    static var kind: JournalKind { .keyRevoked }
    var keyID: String

    func run(_ write: EntryWrite) throws {
        if try !APIKeysTable(connection: write.connection).revoke(keyID, at: write.transaction.now) {
            try write.impossible("there is no valid key \(keyID) before it")
        }
    }
}
