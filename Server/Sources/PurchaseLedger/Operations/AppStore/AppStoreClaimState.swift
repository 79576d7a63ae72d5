public import PurchaseVerification

public import struct Foundation.UUID

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
