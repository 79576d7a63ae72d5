import PurchaseVerification

public import struct Foundation.UUID

/// The question of a claim to the App Store; `nil` if it was answered already, or if its app is no longer in the
/// settings.
public struct AppStoreClaimByID: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var claim: UUID

    public init(_ claim: UUID) { self.claim = claim }

    public func answer(_ reader: LedgerTransaction) throws -> AppStoreClaim? {
        let connection = reader.connection
        guard let entry = try JournalTable(connection: connection).row(id: claim),
            let row = try AppStoreClaimsTable(connection: connection).row(entry.key), row.nextAt != nil,
            let app = reader.registry.app(key: row.appKey),
            let details = try entry.details.map(ClaimDetails.init(encoded:)),
            let evidence = try EvidenceTable(connection: connection).row(key: row.evidenceKey)
        else { return nil }
        return AppStoreClaim(
            id: claim, app: app.settings.id, waits: row.waits, receivedAt: row.receivedAt, attempts: Int(row.attempts),
            evidence: try EvidenceStore(connection: connection).bytes(evidence), details: details)
    }
}
