public import PurchaseVerification

public import struct Foundation.UUID

/// A claim to check with the App Store.
public struct AppStoreClaim: Sendable {
    /// How long one server may work on a claim, in milliseconds.
    public static let lease = AppStoreClaimRow.lease
    /// How long the App Store's answer about a receipt is reused for further claims of the same customer with it, in
    /// milliseconds.
    public static let answerLasts: Int64 = 900_000

    /// The claim's entry.
    public let id: UUID
    public let app: String
    /// Whether the claim is decided after the App Store's answer. Otherwise it was granted before.
    public let waits: Bool
    public let receivedAt: Timestamp
    /// The number of requests that were not answered.
    public let attempts: Int
    /// The receipt as it was sent; `nil` if it can no longer be read, so that the App Store cannot be asked.
    public let evidence: [UInt8]?
    let details: ClaimDetails
}

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

/// The state of a claim that is checked with the App Store.
public struct AppStoreClaimState: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var claim: UUID

    public init(_ claim: UUID) { self.claim = claim }

    public enum State: Sendable, Equatable {
        case decided(DecidedClaim)
        /// A server is asking the App Store now.
        case asked
        /// The App Store is asked at a later time.
        case postponed(until: Timestamp)
    }

    /// - Returns: `nil` for a claim that does not wait.
    public func answer(_ reader: LedgerTransaction) throws -> State? {
        if let decision = try DecisionOfClaim(claim).answer(reader) { return .decided(decision) }
        guard let entry = try JournalTable(connection: reader.connection).row(id: claim),
            let row = try AppStoreClaimsTable(connection: reader.connection).row(entry.key), let next = row.nextAt
        else { return nil }
        return row.leasedUntil.map { $0 > reader.now } ?? false ? .asked : .postponed(until: next)
    }
}
