public import PurchaseAPI
public import PurchaseVerification

import struct Foundation.UUID

/// What Apple is to be told about a token; `nil` if the token is not known.
public struct ExternalReportDue: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var work: LedgerWork

    public init(_ work: LedgerWork) { self.work = work }

    /// Apple names no limit for a report: as many line items as one request states.
    static let mostItems = ExternalLineItem.mostInRequest

    /// A report.
    public struct Report: Sendable {
        public var bundleID: String?
        public var status: ExternalReportStatus
        /// The id of a refused report, which is sent again.
        public var requestID: String?
        public var lineItems: [ReportedLineItem]
        /// When it is due; `nil` if Apple knows everything.
        public var at: Timestamp?
        /// Whether it is only noted that it is late: Apple refused it, and nothing was stated since.
        public var isHeld: Bool
        /// When it is late; `nil` if that was told.
        public var lateAt: Timestamp?
    }

    public func answer(_ reader: LedgerTransaction) throws -> Report? {
        let table = ExternalPurchasesTable(connection: reader.connection)
        guard let row = try table.row(work.subject, appKey: try reader.app(work.app).key) else { return nil }
        let waiting = try table.waiting(of: row, limit: Self.mostItems)
        let empty: ExternalReportStatus = row.isDuplicate ? .duplicate : row.isStated ? .noLineItem : .unrecognized
        return Report(
            bundleID: row.bundleID, status: waiting.isEmpty ? empty : .lineItems, requestID: row.refusedRequest,
            lineItems: waiting.map {
                ReportedLineItem(id: $0.id, content: $0.content, isRestatement: $0.reported != nil)
            },
            at: row.isRefused ? row.overdueAt : row.dueAt, isHeld: row.isRefused,
            lateAt: row.isOverdue ? nil : row.overdueAt)
    }
}

/// Writes down the identifier of a report that is due, before it is sent.
///
/// What is sent is read with it, so that two servers, one of which lost its lease, send one report, under one
/// identifier.
public struct BeginExternalReport: LedgerOperation {
    public var work: LedgerWork

    public init(_ work: LedgerWork) { self.work = work }

    public var locks: LedgerLocks { .parts([.work, .external(work.subject)]) }

    /// - Returns: `nil` if nothing is due any longer.
    public func perform(
        _ transaction: LedgerTransaction
    ) throws -> (requestID: String, report: ExternalReportDue.Report)? {
        guard let report = try ExternalReportDue(work).answer(transaction), let at = report.at,
            at <= transaction.now, !report.isHeld
        else { return nil }
        let noted = try WorkTable(connection: transaction.connection).row(try work.key(transaction))?.progress
        var begun = work
        begun.progress = noted ?? report.requestID ?? UUID().uuidString.lowercased()
        try NoteWork(begun, next: transaction.now, isHeld: true).perform(transaction)
        return begun.progress.map { ($0, report) }
    }
}

/// A line item in a report.
public struct ReportedLineItem: Sendable {
    public let id: String
    /// `ExternalLineItem.content`.
    public let content: String
    /// Whether Apple has an earlier statement of it.
    public let isRestatement: Bool

    init(id: String, content: String, isRestatement: Bool) {
        (self.id, self.content, self.isRestatement) = (id, content, isRestatement)
    }

    /// One of a report that Apple has.
    public init(_ item: ExternalLineItem) {
        self.init(id: item.id, content: item.content, isRestatement: item.isRestatement)
    }
}

/// Records Apple's answer to a report, or that there is none for too long.
public struct RecordExternalReport: LedgerOperation {
    public var app: String
    public var id: String
    public var answer: Answer

    public enum Answer: Sendable {
        /// Apple has the report, with these line items.
        case accepted(requestID: String, ExternalReportStatus, [ReportedLineItem])
        /// Apple refused it with these line items, and says why, and which of them it has or does not have.
        case refused(
            requestID: String, [ReportedLineItem], String, known: [String] = [], unknown: [String] = [])
        /// It is late.
        case late
    }

    public init(app: String, id: String, _ answer: Answer) { (self.app, self.id, self.answer) = (app, id, answer) }

    public var locks: LedgerLocks { .parts([.work, .external(id)]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        let (app, table) = (try transaction.app(app), ExternalPurchasesTable(connection: transaction.connection))
        let row = try table.row(id, appKey: app.key)
        // Two servers can find it late at once, and one of them can report it meanwhile.
        if case .late = answer, row.map({ $0.isOverdue || $0.dueAt == nil }) ?? true { return }
        var details = ExternalReportedDetails(id: id)
        switch answer {
        case .accepted(let request, let status, let items):
            (details.requestID, details.status) = (request, status)
            details.lineItems = items.isEmpty ? nil : items.map { .init($0.id, $0.content) }
        case .refused(let request, let items, let reason, let known, let unknown):
            (details.requestID, details.refusal) = (request, reason)
            details.lineItems = items.isEmpty ? nil : items.map { .init($0.id, $0.content) }
            details.known = known.isEmpty ? nil : known
            details.unknown = unknown.isEmpty ? nil : unknown
        case .late: break
        }
        // What is left begins with a request of its own.
        if let row, details.requestID != nil {
            try WorkTable(connection: transaction.connection).delete(row.work)
        }
        try details.run(try transaction.append(transaction.draft(app), details))
    }
}

/// `external_reported`: Apple's answer to a report; without a request, that there is none in time.
struct ExternalReportedDetails: LedgerInput {
    static var kind: JournalKind { .externalReported }
    var id: String
    var requestID: String?
    /// What Apple accepted; `nil` if it refused the report.
    var status: ExternalReportStatus?
    /// What was sent.
    var lineItems: [Item]?
    var refusal: String?
    /// The line items that Apple has from elsewhere, and those that it does not have, by its refusal.
    var known: [String]?
    var unknown: [String]?

    struct Item: Codable, Sendable, Equatable {
        var id: String
        var digest: String

        init(_ id: String, _ content: String) { (self.id, digest) = (id, ExternalItemRow.digest(content)) }
    }

    func run(_ write: EntryWrite) throws {
        guard !write.isOfEntriesAlone else { return }
        let (table, now) = (ExternalPurchasesTable(connection: write.connection), write.transaction.now)
        guard var row = try table.row(id, appKey: write.app.key) else {
            return try write.impossible("the token is not known")
        }
        if let requestID {
            (row.requestID, row.answerEntry) = (requestID, write.entry.key)
            (row.refusedRequest, row.isRefused) = (nil, false)
            if status == nil {
                // What was stated while the report was on its way is not held.
                let next = try table.waiting(of: row, limit: ExternalReportDue.mostItems)
                (row.refusedRequest, row.isRefused) = (
                    requestID, next.map { Item($0.id, $0.content) } == lineItems ?? []
                )
            }
            func note(_ id: String, _ reported: String?) throws {
                guard var item = try table.item(id, appKey: write.app.key), item.entryKey == row.entryKey else {
                    return
                }
                item.reported = reported
                item.note()
                try table.write(item)
            }
            if status != nil { for item in lineItems ?? [] { try note(item.id, item.digest) } }
            // What was accepted from another server meanwhile is not stated anew.
            for id in known ?? [] where try table.item(id, appKey: write.app.key)?.reported == nil {
                try note(id, "")
            }
            for id in unknown ?? [] { try note(id, nil) }
            if let status { (row.status, row.isOverdue, row.itemsSince) = (status, false, nil) }
            try row.noteItems(table, at: now)
        } else {
            row.isOverdue = true
            var event = write.events.event(.externalPurchaseTokenOverdue)
            (event.environment, event.figures.submission) = (row.environment, row.externalID)
            event.figures.until = row.dueAt
            try write.transaction.tell(event, to: nil)
        }
        try table.write(row, at: now)
    }
}

/// The external purchase tokens of an app, the newest first.
public struct ExternalPurchaseList: LedgerList {
    public var app: String
    public var state: ExternalPurchaseState?
    public var cursor: Int64?
    public var limit: Int

    public init(app: String, state: ExternalPurchaseState? = nil, before cursor: Int64? = nil, limit: Int = 50) {
        (self.app, self.state, self.cursor, self.limit) = (app, state, cursor, limit)
    }

    public func answer(_ reader: LedgerTransaction) throws -> ListPage<ExternalPurchaseMessage, Int64> {
        try ListOrder<ExternalPurchaseRow, Int64>(
            reader.connection, [ListIndex("app_key = ?1", try reader.app(app).key)], by: ["entry_key"],
            cursor: \.entryKey
        ).page(after: cursor, limit: limit) { state == nil || $0.state(at: reader.now) == state ? $0 : nil }
            .map { try ExternalPurchaseMessage($0, reader) }
    }
}

/// One token.
public struct ExternalPurchaseOfID: LedgerQuery {
    public static let access = LedgerReadAccess.keys

    public var app: String
    public var id: String

    public init(app: String, id: String) { (self.app, self.id) = (app, id) }

    /// - Throws: `external_purchase_unknown`.
    public func answer(_ reader: LedgerTransaction) throws -> ExternalPurchaseMessage {
        let app = try reader.app(app)
        guard let row = try ExternalPurchasesTable(connection: reader.connection).row(id, appKey: app.key) else {
            throw LedgerRefusal(.externalPurchaseUnknown, expected: "a token that was stated or notified", found: id)
        }
        return try ExternalPurchaseMessage(
            row, reader, items: ExternalPurchasesTable(connection: reader.connection).items(of: row))
    }
}

extension ExternalPurchaseRow {
    func state(at now: Timestamp) -> ExternalPurchaseState {
        if isRefused { return .refused }
        guard let due = dueAt else { return status == nil ? .open : .reported }
        return due <= now || itemsSince != nil ? .due : status == nil ? .open : .reported
    }
}

extension ExternalPurchaseMessage {
    init(
        _ row: ExternalPurchaseRow, _ reader: LedgerTransaction, items: [ExternalItemRow]? = nil
    ) throws(LedgerStorageError) {
        self.init(
            externalPurchaseID: row.externalID,
            environment: EnvironmentName(try reader.environments.environment(row.environment)), stated: row.isStated,
            state: row.state(at: reader.now).rawValue)
        (tokenType, createdAt) = (row.tokenType, row.createdAt.map { "\($0)" })
        (expiresAt, dueAt) = (row.expiresAt.map { "\($0)" }, row.dueAt.map { "\($0)" })
        (status, requestID) = (row.status?.rawValue, row.requestID)
        lineItems = items.map { items in items.map { LineItem(lineItemID: $0.id, reported: $0.isReported) } }
        guard let key = row.answerEntry, let entry = try JournalTable(connection: reader.connection).row(key: key)
        else { return }
        guard let content = entry.details else { return }
        let details = try ExternalReportedDetails(encoded: content)
        if row.isRefused { refusal = details.refusal }
        if details.status != nil { reportedAt = "\(entry.at)" }
    }
}
