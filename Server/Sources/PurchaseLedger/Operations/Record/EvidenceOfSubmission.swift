public import struct Foundation.UUID

/// The stored evidence of a claim or of its decision, or the App Store's reply about it; `nil` if there was none, or if
/// it was erased.
public struct EvidenceOfSubmission: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    private static let kinds: [JournalKind] = [.claim, .decision, .appStoreAnswer]

    public var app: String
    public var submissionID: UUID

    /// The evidence of a claim.
    public init(app: String, submissionID: UUID) {
        self.app = app
        self.submissionID = submissionID
    }

    public func answer(_ reader: LedgerTransaction) throws -> StoredEvidence? {
        let app = try reader.app(app)
        guard let row = try JournalTable(connection: reader.connection).row(id: submissionID), row.appKey == app.key,
            Self.kinds.contains(where: { Int64($0.rawValue) == row.kind }), let key = row.evidenceKey,
            let evidence = try EvidenceTable(connection: reader.connection).row(key: key),
            let bytes = try EvidenceStore(connection: reader.connection).keptBytes(evidence)
        else { return nil }
        return StoredEvidence(bytes: bytes, size: evidence.size)
    }
}
