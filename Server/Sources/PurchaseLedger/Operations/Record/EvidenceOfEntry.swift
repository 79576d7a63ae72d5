import PurchaseVerification

public import struct Foundation.UUID

/// The stored evidence of an entry: of a claim or its decision, the App Store's reply, a notification; `nil` if there
/// was none, or if it was erased.
public struct EvidenceOfEntry: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The kinds of entries that a claim has.
    public static let claimKinds: [JournalKind] = [.claim, .decision, .appStoreAnswer]

    public var app: String
    public var entryID: UUID
    /// The kinds of entries that are answered.
    public var kinds: [JournalKind]

    /// The evidence of an entry of some kinds; without kinds, of those of a claim.
    public init(app: String, entryID: UUID, kinds: [JournalKind] = Self.claimKinds) {
        (self.app, self.entryID, self.kinds) = (app, entryID, kinds)
    }

    public func answer(_ reader: LedgerTransaction) throws -> StoredEvidence? {
        let app = try reader.app(app)
        guard let row = try JournalTable(connection: reader.connection).row(id: entryID), row.appKey == app.key,
            kinds.contains(where: { Int64($0.rawValue) == row.kind }), let key = row.evidenceKey,
            let evidence = try EvidenceTable(connection: reader.connection).row(key: key),
            let bytes = try EvidenceStore(connection: reader.connection).keptBytes(evidence)
        else { return nil }
        return StoredEvidence(bytes: bytes, size: evidence.size)
    }
}

/// Stored evidence.
public struct StoredEvidence: Sendable, Equatable {
    /// The stored bytes, as they were sent.
    public var bytes: [UInt8]
    /// The number of bytes that were sent.
    public var size: Int64
    /// Whether all of them are stored.
    public var isWhole: Bool { bytes.count == size }
}

/// The answers of the App Store by which claims are listed.
public enum AppStoreAnswerFilter: String, Sendable, CaseIterable {
    case refused
    case contradicted

    /// The code of such answers.
    var code: DecisionCode {
        switch self {
        case .refused: .appStoreRefused
        case .contradicted: .appStoreContradicts
        }
    }
}
