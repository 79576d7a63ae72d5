public import PurchaseVerification

public import struct Foundation.UUID

/// A claim that the App Store is to be asked about.
public struct AppStoreClaim: Sendable {
    /// How long one server works on a claim, in milliseconds. A server that died has it no longer than that.
    public static let lease: Int64 = 120_000
    /// How long the App Store's word on a receipt counts for further claims of the same customer with it, in milliseconds.
    public static let wordLasts: Int64 = 900_000

    /// The claim's entry.
    public let id: UUID
    public let app: String
    /// Whether the claim is decided after the App Store's word. Otherwise it was granted already.
    public let waits: Bool
    public let receivedAt: Timestamp
    /// The questions that had no answer.
    public let attempts: Int
    /// The receipt as it was sent; `nil` if it cannot be read any more, and nobody can be asked.
    public let evidence: [UInt8]?
    let details: ClaimDetails
}

/// What a claim asks the App Store; `nil` if it was answered already, or if its app is no longer in the settings.
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

/// How far a claim is that the App Store is asked about.
public struct AppStoreClaimState: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var claim: UUID

    public init(_ claim: UUID) { self.claim = claim }

    public enum State: Sendable, Equatable {
        case decided(DecidedClaim)
        /// A server asks about it now.
        case asked
        /// It is asked about later.
        case rests(until: Timestamp)
    }

    /// - Returns: `nil` for a claim that does not wait.
    public func answer(_ reader: LedgerTransaction) throws -> State? {
        if let decision = try DecisionOfClaim(claim).answer(reader) { return .decided(decision) }
        guard let entry = try JournalTable(connection: reader.connection).row(id: claim),
            let row = try AppStoreClaimsTable(connection: reader.connection).row(entry.key), let next = row.nextAt
        else { return nil }
        return row.leasedUntil.map { $0 > reader.now } ?? false ? .asked : .rests(until: next)
    }
}
