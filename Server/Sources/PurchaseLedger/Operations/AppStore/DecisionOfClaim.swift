import PurchaseVerification

public import struct Foundation.UUID

/// The decision about a claim; `nil` if the claim still waits, or never waited.
public struct DecisionOfClaim: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var claim: UUID

    public init(_ claim: UUID) { self.claim = claim }

    public func answer(_ reader: LedgerTransaction) throws -> DecidedClaim? {
        let journal = JournalTable(connection: reader.connection)
        guard let entry = try journal.row(id: claim),
            let row = try AppStoreClaimsTable(connection: reader.connection).row(entry.key),
            let decision = try row.decisionEntry.flatMap({ key throws(LedgerStorageError) in try journal.row(key: key) }
            )
        else { return nil }
        return try DecidedClaim(decision)
    }
}

extension Rejection {
    /// The rejection of a recorded code; `nil` for `accepted`.
    init?(code: String, expected: String?, found: String?) {
        if let known = DecisionCode(rawValue: code) {
            guard known != .accepted else { return nil }
            self.init(known, expected: expected, found: found)
        } else if let known = ReasonCode(rawValue: code) {
            self.init(known, expected: expected, found: found)
        } else {
            return nil
        }
    }
}
