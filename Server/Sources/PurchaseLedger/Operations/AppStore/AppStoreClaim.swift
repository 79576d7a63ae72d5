public import PurchaseVerification

public import struct Foundation.UUID

/// A claim to check with the App Store.
public struct AppStoreClaim: Sendable {
    /// How long the App Store's answer about a receipt is reused for further claims of the same customer with it, in
    /// milliseconds.
    public static let answerLasts: Int64 = 900_000

    /// The claim's entry.
    public let id: UUID
    public let app: String
    /// Whether the claim is decided after the App Store's answer. Otherwise it was granted before.
    public let waits: Bool
    /// The question to the App Store, with the attempts that had no answer.
    public let work: LedgerWork
    /// The receipt as it was sent; `nil` if it can no longer be read, so that the App Store cannot be asked.
    public let evidence: [UInt8]?
    let details: ClaimDetails
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
            let row = try AppStoreClaimsTable(connection: reader.connection).row(entry.key),
            let work = try WorkTable(connection: reader.connection).row(row.work), let next = work.nextAt
        else { return nil }
        return work.leasedUntil.map { $0 > reader.now } ?? false ? .asked : .postponed(until: next)
    }
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
            let row = try AppStoreClaimsTable(connection: connection).row(entry.key),
            let work = try WorkTable(connection: connection).row(row.work).flatMap({
                work throws(LedgerStorageError) in try LedgerWork(work, reader)
            }),
            let app = reader.registry.app(key: row.appKey),
            let details = try entry.details.map(ClaimDetails.init(encoded:)),
            let evidence = try EvidenceTable(connection: connection).row(key: row.evidenceKey)
        else { return nil }
        return AppStoreClaim(
            id: claim, app: app.settings.id, waits: row.waits, work: work,
            evidence: try EvidenceStore(connection: connection).bytes(evidence), details: details)
    }
}

/// The App Store's answer about a claim that waited for it.
struct AnsweredClaim {
    /// The claim's entry.
    let claim: UUID
    let answer: AppStoreAnswer
}

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

extension DecidedClaim {
    /// The decision of an entry.
    init(_ entry: JournalRow) throws(LedgerStorageError) {
        let details = try entry.details.map(DecisionDetails.init(encoded:))
        self.init(
            id: entry.id, leafHash: JournalLeaf.hash(entry.leaf),
            rejection: Rejection(code: entry.code, expected: details?.decided.expected, found: details?.decided.found))
    }
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
