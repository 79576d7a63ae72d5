public import Foundation
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

    public func answer(_ reader: LedgerTransaction) throws -> ListPage<SubmissionRecord, JournalCursor> {
        let app = try reader.app(app)
        let start = cursor ?? filter.to.map { JournalCursor(at: $0, key: .min) }
        return try JournalTable(connection: reader.connection).order(try indexes(reader, app))
            .page(after: start, limit: limit) { row in
                // Most exclusions are decided by the columns alone.
                guard let row = try claim(of: row, reader), matches(row) else { return nil }
                let record = try SubmissionRecord(row, app: app.settings.id, reader)
                return matches(record) ? record : nil
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

    private func matches(_ record: SubmissionRecord) -> Bool {
        (filter.customerID.map { $0.isSame(as: record.customerID) } ?? true)
            && (filter.transactionID.map { $0.isSame(as: record.transactionID) } ?? true || filter.appStore == nil)
            && (filter.orderID.map { $0 == record.orderID.flatMap(UUID.init(uuidString:)) } ?? true)
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

/// A claim as recorded in the journal.
public struct SubmissionRecord: Sendable, Equatable {
    public var submissionID: UUID
    public var receivedAt: Timestamp
    public var app: String
    /// `accepted`, or the code of the rejection.
    public var code: String
    public var verdict: Verdict { Verdict(code: code) }
    public var isReplayed: Bool
    public var isRestore: Bool
    public var keyID: String?
    public var sourceAddress: String?
    public var customerID: String?
    public var orderID: String?
    public var productID: String?
    public var transactionID: String?
    public var quantity: Int64?
    public var evidenceKind: String?
    /// The names of members of the request that the server did not know.
    public var unknownMembers: [String]?
    public var expected: String?
    public var found: String?
    /// The number of refusals that the entry stands for; `nil` for a single one.
    public var refusals: Int64?
    /// SHA-256 of the evidence, in hexadecimal; of several refusals, of the last one.
    public var evidenceSHA256: String?
    /// The size of the evidence that was sent, and how much of it is stored; `nil` in a list.
    public var evidenceSize: Int64?
    public var evidenceKept: StoredPart?
    /// The hash of the leaf in the Merkle log, in hexadecimal.
    public var leafHash: String
    /// The number of the leaf; `nil` while it is pending, and in lists.
    public var leafNumber: Int64?
    /// Whether the details were erased.
    public var isErased: Bool
    /// The decision about a claim that waited for the App Store.
    public var decision: DecidedClaim?
    /// The claim that a decision is about.
    public var decides: UUID?
    /// The entry of the App Store's answer, whose evidence is the reply.
    public var appStoreAnswer: UUID?
    /// When the App Store is asked again.
    public var nextAttemptAt: Timestamp?
}

extension SubmissionRecord {
    init(_ row: JournalRow, app: String, _ reader: LedgerTransaction) throws {
        guard let leaf = JournalLeaf(bytes: row.leaf) else {
            throw LedgerStorageError(.corrupt, "the leaf of entry \(row.key) cannot be read")
        }
        if leaf.kind == .refusals {
            let refusals = try row.details.map(RefusalsDetails.init(encoded:))
            self.init(
                submissionID: row.id, receivedAt: leaf.at, app: app, code: leaf.code, isReplayed: false,
                isRestore: refusals?.since == nil, keyID: refusals?.keyID, sourceAddress: refusals?.sourceAddress,
                customerID: refusals?.customer, found: refusals?.sentence, refusals: refusals?.count,
                evidenceSHA256: refusals?.since == nil ? nil : refusals?.hashes.last,
                leafHash: JournalLeaf.hash(row.leaf).hexadecimal, isErased: refusals == nil)
            return
        }
        let decision =
            leaf.kind == .decision ? try row.details.map(DecisionDetails.init(encoded:)) : nil
        let details =
            try decision?.decided ?? (leaf.kind == .claim ? row.details.map(ClaimDetails.init(encoded:)) : nil)
        self.init(
            submissionID: row.id, receivedAt: leaf.at, app: app, code: leaf.code,
            isReplayed: details?.replayed ?? false,
            isRestore: details?.isRestore ?? false, keyID: details?.keyID, sourceAddress: details?.sourceAddress,
            customerID: details?.customer, orderID: details?.order, productID: details?.productID,
            transactionID: details?.transactionID, quantity: details?.quantity, evidenceKind: details?.evidenceKind,
            expected: details?.expected, found: details?.found, evidenceSHA256: leaf.evidence?.hexadecimal,
            leafHash: JournalLeaf.hash(row.leaf).hexadecimal, isErased: details == nil)
        unknownMembers = details?.unknownMembers
        decides = decision.flatMap { UUID(uuidString: $0.claim) }
        guard details?.appStore != nil,
            let asked = try AppStoreClaimsTable(connection: reader.connection).row(row.key)
        else { return }
        self.decision = try DecisionOfClaim(row.id).answer(reader)
        nextAttemptAt = try WorkTable(connection: reader.connection).row(asked.work)?.nextAt
        let journal = JournalTable(connection: reader.connection)
        appStoreAnswer = try asked.answerEntry.flatMap { key throws(LedgerStorageError) in try journal.row(key: key)?.id
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
