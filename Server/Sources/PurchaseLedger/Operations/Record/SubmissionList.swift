public import Foundation
public import PurchaseAPI
public import PurchaseVerification
import TextFormats

/// Claims of an app, newest first; with the filter of the App Store's answer, in the order of the answers.
public struct SubmissionList: LedgerList {
    public var app: String
    public var filter: SubmissionFilter
    public var cursor: JournalCursor?
    public var limit: Int

    /// A page of claims.
    public init(
        app: String, filter: SubmissionFilter = SubmissionFilter(), cursor: JournalCursor? = nil, limit: Int = 50
    ) {
        (self.app, self.filter, self.cursor, self.limit) = (app, filter, cursor, limit)
    }

    public func answer(_ reader: LedgerTransaction) throws -> ListPage<SubmissionMessage, JournalCursor> {
        let app = try reader.app(app)
        let start = cursor ?? filter.to.map { JournalCursor(at: $0, key: .min) }
        return try JournalTable(connection: reader.connection).order(try indexes(reader, app))
            .page(after: start, limit: limit) { row in
                // Most exclusions are decided by the columns alone.
                guard let row = try claim(of: row, reader), matches(row) else { return nil }
                let claim = try SubmissionMessage(row, reader)
                return matches(claim) ? claim : nil
            }
    }

    /// The claim of a row, which can be an answer about it; `nil` if that was erased.
    private func claim(of row: JournalRow, _ reader: LedgerTransaction) throws -> JournalRow? {
        guard filter.appStore != nil else { return row }
        guard let details = try row.details.map(AppStoreAnswerDetails.init(encoded:)),
            let id = UUID(uuidString: details.claim)
        else { return nil }
        return try JournalTable(connection: reader.connection).row(id: id)
    }

    /// The narrowest indexes for the filter; none if nothing can match it. A claim is in one of them only.
    private func indexes(_ reader: LedgerTransaction, _ app: RegistryApp) throws -> [ListIndex] {
        func index(_ condition: String, _ value: LedgerValue? = nil, of table: String? = nil) -> ListIndex {
            let from = filter.from ?? Timestamp(millisecondsSince1970: .min)
            return ListIndex(
                "app_key = ?1 AND at >= ?2 AND \(condition)",
                [.integer(app.key), .time(from)] + (value.map { [$0] } ?? []), of: table)
        }
        // 2 is `JournalKind.appStoreAnswer`, 3 is `JournalKind.claim`, 48 is `JournalKind.refusals`: refused evidence,
        // several pieces in an entry.
        let (accepted, refusals) = (index("kind = 3 AND code = 'accepted'"), index("kind = 48"))
        func withCode(_ code: String, kind: Int = 3) -> ListIndex {
            index("kind = \(kind) AND code <> 'accepted' AND code = ?3", .text(code))
        }
        if let answer = filter.appStore { return [withCode(answer.code.rawValue, kind: 2)] }
        let isAccepted = filter.code.map { $0.isSame(as: DecisionCode.accepted.rawValue) }
        let verdict = filter.verdict ?? filter.code.map(Verdict.init(code:))
        if let isAccepted, isAccepted != (verdict == .accepted) { return [] }
        if let code = filter.code, let verdict, Verdict(code: code) != verdict { return [] }
        if let id = filter.transactionID {
            // Claims that are not accepted name a transaction that the ledger may not know.
            return try reader.rows(transaction: id, app).map {
                index("kind = 3 AND transaction_key = ?3", .integer($0.key))
            } + [index("transaction_id = ?3", .text(id), of: RefusedClaimsTable.name)]
        }
        if let id = filter.orderID {
            guard let order = try reader.orders.row(id: id), order.appKey == app.key else { return [] }
            return [index("kind = 3 AND order_key = ?3", .integer(order.key))]
        }
        if let name = filter.customerID {
            guard let key = try reader.customers.named(name, appKey: app.key)?.key else { return [] }
            return [3, 48].map { index("kind = \($0) AND customer_key = ?3", .integer(key)) }
        }
        if let code = filter.code, isAccepted == false { return [withCode(code), refusals] }
        let rejected = index("kind = 3 AND code <> 'accepted'")
        return switch verdict {
        case .accepted: [accepted]
        case .rejected: [rejected, refusals]
        case .undetermined: [withCode(DecisionCode.appStorePending.rawValue)]
        case nil: [accepted, rejected, refusals]
        }
    }

    private func matches(_ row: JournalRow) -> Bool {
        (filter.code.map { $0.isSame(as: row.code) } ?? true)
            && (filter.verdict.map { $0 == Verdict(code: row.code) } ?? true)
    }

    private func matches(_ claim: SubmissionMessage) -> Bool {
        (filter.customerID.map { $0.isSame(as: claim.customerID) } ?? true)
            && (filter.transactionID.map { $0.isSame(as: claim.transactionID) } ?? true || filter.appStore == nil)
            && (filter.orderID.map { $0 == claim.orderID.flatMap(UUID.init(uuidString:)) } ?? true)
    }
}

/// The filter of a list of claims. Fields that are `nil` do not restrict it.
public struct SubmissionFilter: Sendable, Equatable {
    public var customerID: String?
    public var orderID: UUID?
    public var transactionID: String?
    public var code: String?
    public var verdict: Verdict?
    /// The App Store's answer about the claim.
    public var appStore: AppStoreAnswerFilter?
    /// Received at this time or later.
    public var from: Timestamp?
    /// Received before this time.
    public var to: Timestamp?

    /// All claims.
    public init() {}
}

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

    public func answer(_ reader: LedgerTransaction) throws -> SubmissionMessage? {
        let app = try reader.app(app)
        guard let row = try JournalTable(connection: reader.connection).row(id: submissionID), row.appKey == app.key,
            [JournalKind.claim, .decision, .refusals].contains(where: { Int64($0.rawValue) == row.kind })
        else { return nil }
        var claim = try SubmissionMessage(row, reader)
        if let key = row.evidenceKey, let evidence = try EvidenceTable(connection: reader.connection).row(key: key) {
            (claim.evidenceSize, claim.evidenceKept) = (evidence.size, EvidenceStore.keptPart(evidence).rawValue)
        }
        claim.leafNumber = try LogEntriesTable(connection: reader.connection).leaf(of: row.key)
        return claim
    }
}

extension SubmissionMessage {
    /// A claim as recorded in the journal; its evidence and its leaf's number are for a single one only.
    init(_ row: JournalRow, _ reader: LedgerTransaction) throws {
        guard let leaf = JournalLeaf(bytes: row.leaf) else {
            throw LedgerStorageError(.corrupt, "the leaf of entry \(row.key) cannot be read")
        }
        self.init(
            submissionID: row.id.text, receivedAt: "\(leaf.at)",
            verdict: SubmissionVerdict(rawValue: Verdict(code: leaf.code).rawValue), code: leaf.code,
            leafHash: JournalLeaf.hash(row.leaf).hexadecimal)
        if leaf.kind == .refusals {
            let refusals = try row.details.map(RefusalsDetails.init(encoded:))
            (restore, erased) = (refusals?.since == nil, refusals == nil)
            (keyID, sourceAddress) = (refusals?.keyID, refusals?.sourceAddress)
            (customerID, found, self.refusals) = (refusals?.customer, refusals?.sentence, refusals?.count)
            evidenceSHA256 = refusals?.since == nil ? nil : refusals?.hashes.last
            return
        }
        let decision =
            leaf.kind == .decision ? try row.details.map(DecisionDetails.init(encoded:)) : nil
        let details =
            try decision?.decided ?? (leaf.kind == .claim ? row.details.map(ClaimDetails.init(encoded:)) : nil)
        (replayed, restore, erased) = (details?.replayed ?? false, details?.isRestore ?? false, details == nil)
        (keyID, sourceAddress, customerID) = (details?.keyID, details?.sourceAddress, details?.customer)
        (orderID, productID, transactionID) = (details?.order, details?.productID, details?.transactionID)
        (quantity, evidenceKind) = (details?.quantity, details?.evidenceKind)
        (expected, found, evidenceSHA256) = (details?.expected, details?.found, leaf.evidence?.hexadecimal)
        unknownFields = details?.unknownMembers
        decides = decision.flatMap { UUID(uuidString: $0.claim) }?.text
        guard details?.appStore != nil,
            let asked = try AppStoreClaimsTable(connection: reader.connection).row(row.key)
        else { return }
        self.decision = try DecisionOfClaim(row.id).answer(reader).map {
            SubmissionDecision(
                submissionID: $0.id.text, verdict: SubmissionVerdict(rawValue: $0.verdict.rawValue), code: $0.code,
                expected: $0.rejection?.expected, found: $0.rejection?.found)
        }
        nextAttemptAt = try WorkTable(connection: reader.connection).row(asked.work)?.nextAt.map { "\($0)" }
        let journal = JournalTable(connection: reader.connection)
        appStoreAnswerID = try asked.answerEntry.flatMap { key throws(LedgerStorageError) in
            try journal.row(key: key)?.id.text
        }
    }
}

extension RefusalsDetails {
    /// What was refused, as a sentence.
    fileprivate var sentence: String {
        guard let since else { return counted(count, "refused piece") + " of evidence" }
        return "\(counted(count, "refusal")) beyond the daily budget since \(Timestamp(millisecondsSince1970: since))"
    }
}
