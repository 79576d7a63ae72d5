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

/// The claims that are due and that no server works on, the longest overdue first.
public struct DueAppStoreClaims: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var limit: Int

    /// At most so many claims.
    public init(limit: Int) { self.limit = limit }

    /// - Returns: the number of claims, at most the limit.
    public func answer(_ reader: LedgerTransaction) throws -> Int {
        try AppStoreClaimsTable(connection: reader.connection)
            .due(reader.registry.apps.map(\.key), at: reader.now, limit: Int64(limit)).count
    }
}

/// Takes claims that are due, for as long as a lease lasts.
public struct LeaseAppStoreClaims: LedgerOperation {
    public var limit: Int
    /// Takes claims that came before this time and were asked about in vain, whether or not they are due.
    public var overdueSince: Timestamp?

    /// At most so many claims.
    public init(limit: Int, overdueSince: Timestamp? = nil) { (self.limit, self.overdueSince) = (limit, overdueSince) }

    public var locks: LedgerLocks { .parts([.appStoreClaims]) }

    /// - Returns: the ids of the claims.
    public func perform(_ transaction: LedgerTransaction) throws -> [UUID] {
        let table = AppStoreClaimsTable(connection: transaction.connection)
        let journal = JournalTable(connection: transaction.connection)
        let (apps, now) = (transaction.registry.apps.map(\.key), transaction.now)
        let rows =
            try overdueSince.map { end throws(LedgerStorageError) in
                try table.overdue(apps, before: end, at: now, limit: Int64(limit))
            } ?? table.due(apps, at: now, limit: Int64(limit))
        var claims: [UUID] = []
        for row in rows {
            guard let entry = try journal.row(key: row.entryKey) else { continue }
            try table.lease(row.entryKey, until: now.appStoreLeaseEnd)
            claims.append(entry.id)
        }
        return claims
    }
}

/// How many claims came before a time and were asked about in vain, at most a limit.
public struct OverdueAppStoreClaims: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var since: Timestamp
    public var limit: Int

    public init(since: Timestamp, limit: Int) { (self.since, self.limit) = (since, limit) }

    public func answer(_ reader: LedgerTransaction) throws -> Int {
        try AppStoreClaimsTable(connection: reader.connection)
            .overdue(reader.registry.apps.map(\.key), before: since, at: reader.now, limit: Int64(limit)).count
    }
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

/// Notes that the App Store did not answer, and when it is asked again.
public struct PostponeAppStoreClaim: LedgerOperation {
    public var claim: UUID
    public var attempts: Int
    public var next: Timestamp

    /// The next question about a claim, and how many had no answer.
    public init(_ claim: UUID, attempts: Int, to next: Timestamp) {
        (self.claim, self.attempts, self.next) = (claim, attempts, next)
    }

    public var locks: LedgerLocks { .parts([.appStoreClaims]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        guard let entry = try JournalTable(connection: transaction.connection).row(id: claim) else { return }
        try AppStoreClaimsTable(connection: transaction.connection)
            .postpone(entry.key, attempts: Int64(attempts), to: next)
    }
}

/// Makes every claim due that waits for a later attempt: the App Store answers again.
public struct HastenAppStoreClaims: LedgerOperation {
    public init() {}

    public var locks: LedgerLocks { .parts([.appStoreClaims]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        try AppStoreClaimsTable(connection: transaction.connection).makeDue(at: transaction.now)
    }
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
}

/// The decision about a claim; `nil` if it waits, or never did.
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

/// How many claims the App Store is still to be asked about, counted up to a limit.
public struct WaitingAppStoreClaims: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var limit: Int

    /// At most so many are counted.
    public init(limit: Int = 100_000) { self.limit = limit }

    public func answer(_ reader: LedgerTransaction) throws -> Int {
        try AppStoreClaimsTable(connection: reader.connection).count(limit: Int64(limit))
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
