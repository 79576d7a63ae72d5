import PurchaseVerification

public import struct Foundation.UUID

/// The decision about a claim that waited.
public struct DecidedClaim: Sendable, Equatable {
    /// The entry of the decision.
    public var id: UUID
    public var leafHash: [UInt8]
    /// Why it was refused; `nil` if it was accepted.
    public var rejection: Rejection?

    /// `accepted`, or the code of the rejection.
    public var code: String { rejection?.code ?? DecisionCode.accepted.rawValue }
    public var verdict: Verdict { Verdict(code: code) }
    /// Whether the App Store refused it or did not answer, so that the claim changed nothing.
    package var isWithoutEffect: Bool { rejection?.isWithoutEffect ?? false }
}

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

extension DecidedClaim {
    /// The decision of an entry.
    init(_ entry: JournalRow) throws(LedgerStorageError) {
        let details = try entry.details.map(DecisionDetails.init(encoded:))
        self.init(
            id: entry.id, leafHash: JournalLeaf.hash(entry.leaf),
            rejection: Rejection(code: entry.code, expected: details?.decided.expected, found: details?.decided.found))
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
