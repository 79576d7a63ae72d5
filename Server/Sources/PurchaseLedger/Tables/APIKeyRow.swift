import PurchaseVerification

/// A key for the HTTP API, with the SHA-256 of its text.
struct APIKeyRow: TableRow {
    static let table = Table(
        "api_keys", key: nil,
        columns: ["key_id", "app_key", "name", "scopes", "secret_sha256", "created_at", "revoked_at"])

    var id: String
    var appKey: Int64
    var name: String
    var scopes: Set<APIKeyScope>
    var secretSHA256: [UInt8]
    var createdAt: Timestamp
    var revokedAt: Timestamp?

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        id = try reader.text()
        appKey = try reader.integer()
        name = try reader.text()
        scopes = Set(try reader.text().split(separator: ",").compactMap { APIKeyScope(rawValue: String($0)) })
        secretSHA256 = try reader.blob()
        createdAt = try reader.time()
        revokedAt = try reader.optionalTime()
    }

    init(
        id: String, appKey: Int64, name: String, scopes: Set<APIKeyScope>, secretSHA256: [UInt8], createdAt: Timestamp
    ) {
        self.id = id
        self.appKey = appKey
        self.name = name
        self.scopes = scopes
        self.secretSHA256 = secretSHA256
        self.createdAt = createdAt
    }

    var values: [LedgerValue] {
        [
            .text(id), .integer(appKey), .text(name), .text(scopes.map(\.rawValue).sorted().joined(separator: ",")),
            .blob(secretSHA256), .time(createdAt), .time(revokedAt),
        ]
    }
}
