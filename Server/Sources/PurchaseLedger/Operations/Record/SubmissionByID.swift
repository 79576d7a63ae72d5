public import Foundation
import PurchaseVerification

/// One claim.
public struct SubmissionByID: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var submissionID: UUID

    /// The claim with an id.
    public init(app: String, submissionID: UUID) {
        self.app = app
        self.submissionID = submissionID
    }

    public func answer(_ reader: LedgerTransaction) throws -> SubmissionRecord? {
        let app = try reader.app(app)
        guard let row = try JournalTable(connection: reader.connection).row(id: submissionID), row.appKey == app.key,
            [JournalKind.claim, .decision, .refusals].contains(where: { Int64($0.rawValue) == row.kind })
        else { return nil }
        var record = try SubmissionRecord(row, app: app.settings.id, reader)
        if let key = row.evidenceKey, let evidence = try EvidenceTable(connection: reader.connection).row(key: key) {
            (record.evidenceSize, record.evidenceKept) = (evidence.size, EvidenceStore.keptPart(evidence))
        }
        record.leafNumber = try LogEntriesTable(connection: reader.connection).leaf(of: row.key)
        return record
    }
}
