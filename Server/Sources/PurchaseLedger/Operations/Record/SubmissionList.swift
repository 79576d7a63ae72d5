public import Foundation
public import PurchaseVerification

/// A claim as the journal has it.
public struct SubmissionRecord: Sendable, Equatable {
    public var submissionID: UUID
    public var receivedAt: Timestamp
    public var app: String
    /// `accepted`, or the code of the rejection.
    public var code: String
    public var verdict: Verdict { code == DecisionCode.accepted.rawValue ? .accepted : .rejected }
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
    public var expected: String?
    public var found: String?
    /// SHA-256 of the evidence, in hexadecimal.
    public var evidenceSHA256: String?
    /// The hash of the leaf in the Merkle log, in hexadecimal.
    public var leafHash: String
    /// The number of the leaf; `nil` while it waits for the log, and in lists.
    public var leafNumber: Int64?
    /// Whether the details were erased.
    public var isErased: Bool
}

/// Which claims to look for. What is `nil` does not restrict.
public struct SubmissionFilter: Sendable, Equatable {
    public var customerID: String?
    public var orderID: UUID?
    public var transactionID: String?
    public var code: String?
    public var verdict: Verdict?
    /// Received at this time or later.
    public var from: Timestamp?
    /// Received before this time.
    public var to: Timestamp?

    /// All claims.
    public init() {}
}

/// Claims of an app, newest first.
public struct SubmissionList: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    public var filter: SubmissionFilter
    /// Where the page before ended.
    public var cursor: JournalCursor?
    public var limit: Int

    /// A page of claims.
    public init(app: String, filter: SubmissionFilter = SubmissionFilter(), cursor: JournalCursor? = nil, limit: Int) {
        self.app = app
        self.filter = filter
        self.cursor = cursor
        self.limit = limit
    }

    /// A page, and where the next one begins; `nil` if this is the last. A page can be shorter than the limit, or empty, while
    /// there is a next one: filters without an index of their own are applied to it.
    public struct Answer: Sendable {
        public var submissions: [SubmissionRecord]
        public var next: JournalCursor?
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        guard let selection = try selection(reader, app) else { return Answer(submissions: [], next: nil) }
        let count = max(1, limit)
        var rows = try JournalTable(connection: reader.connection).page(
            selection, app: app.key, kind: Int64(JournalKind.claim.rawValue), from: filter.from, to: filter.to,
            cursor: cursor, limit: Int64(count) + 1)
        var next: JournalCursor?
        if rows.count > count {
            rows.removeLast()
            next = rows.last.map { JournalCursor(at: $0.at, key: $0.key) }
        }
        let records = try rows.map { try SubmissionRecord($0, app: app.settings.id) }
        return Answer(submissions: records.filter(matches), next: next)
    }

    /// The narrowest index that the filter has.
    private func selection(_ reader: LedgerTransaction, _ app: RegistryApp) throws -> JournalSelection? {
        if let id = filter.transactionID {
            // Another app can have a transaction of this number, in another environment.
            let originals = OriginalsTable(connection: reader.connection)
            let row = try reader.transactions.rows(id: id).first { row throws(LedgerStorageError) in
                try originals.row(row.originalKey).appKey == app.key
            }
            return row.map { .transaction($0.key) }
        }
        if let id = filter.orderID {
            guard let order = try reader.orders.row(id: id), order.appKey == app.key else { return nil }
            return .order(order.key)
        }
        if let name = filter.customerID {
            guard let customer = try reader.customers.named(name, appKey: app.key) else { return nil }
            return .customer(customer.key)
        }
        if let code = filter.code, code != DecisionCode.accepted.rawValue { return .code(code) }
        return .app
    }

    private func matches(_ record: SubmissionRecord) -> Bool {
        (filter.code.map { $0.isSame(as: record.code) } ?? true)
            && (filter.verdict.map { $0 == record.verdict } ?? true)
            && (filter.customerID.map { $0.isSame(as: record.customerID) } ?? true)
            && (filter.orderID.map { $0 == record.orderID.flatMap(UUID.init(uuidString:)) } ?? true)
    }
}

/// One claim.
public struct SubmissionByID: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var submissionID: UUID

    /// The claim of an id.
    public init(app: String, submissionID: UUID) {
        self.app = app
        self.submissionID = submissionID
    }

    public func answer(_ reader: LedgerTransaction) throws -> SubmissionRecord? {
        let app = try reader.app(app)
        guard let row = try JournalTable(connection: reader.connection).row(id: submissionID), row.appKey == app.key,
            row.kind == Int64(JournalKind.claim.rawValue)
        else { return nil }
        var record = try SubmissionRecord(row, app: app.settings.id)
        record.leafNumber = try LogEntriesTable(connection: reader.connection).leaf(of: row.key)
        return record
    }
}

/// The evidence of a journal entry, as it was sent; `nil` if it has none, if it was erased, or if it did not verify and only hash, size
/// and the first kilobyte were stored.
public struct EvidenceOfSubmission: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var submissionID: UUID

    /// The evidence of a claim.
    public init(app: String, submissionID: UUID) {
        self.app = app
        self.submissionID = submissionID
    }

    public func answer(_ reader: LedgerTransaction) throws -> [UInt8]? {
        let app = try reader.app(app)
        guard let row = try JournalTable(connection: reader.connection).row(id: submissionID), row.appKey == app.key,
            let key = row.evidenceKey, let evidence = try EvidenceTable(connection: reader.connection).row(key: key)
        else { return nil }
        return try EvidenceStore(connection: reader.connection).bytes(evidence)
    }
}

extension SubmissionRecord {
    init(_ row: JournalRow, app: String) throws(LedgerStorageError) {
        guard let leaf = JournalLeaf(bytes: row.leaf) else {
            throw LedgerStorageError(.corrupt, "the leaf of entry \(row.key) cannot be read")
        }
        let details = try row.details.map(ClaimDetails.init(encoded:))
        self.init(
            submissionID: row.id, receivedAt: leaf.at, app: app, code: leaf.code,
            isReplayed: details?.replayed ?? false,
            isRestore: details?.isRestore ?? false, keyID: details?.keyID, sourceAddress: details?.sourceAddress,
            customerID: details?.customer, orderID: details?.order, productID: details?.productID,
            transactionID: details?.transactionID, quantity: details?.quantity, evidenceKind: details?.evidenceKind,
            expected: details?.expected, found: details?.found, evidenceSHA256: leaf.evidence?.hexadecimal,
            leafHash: JournalLeaf.hash(row.leaf).hexadecimal, isErased: details == nil)
    }
}
