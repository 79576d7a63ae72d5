import PurchaseVerification

extension APIKey {
    init(_ row: APIKeyRow, app: String) {
        self.init(
            id: row.id, app: app, name: row.name, scopes: row.scopes, createdAt: row.createdAt, revokedAt: row.revokedAt
        )
    }
}
