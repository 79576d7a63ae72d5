import Crypto
import PurchaseVerification

/// The external purchase tokens of apps, and the line items that were stated for them.
struct ExternalPurchasesTable {
    let connection: any LedgerConnection

    func row(_ id: String, appKey: Int64) throws(LedgerStorageError) -> ExternalPurchaseRow? {
        try ExternalPurchaseRow.first(
            "WHERE app_key = ?1 AND external_id = ?2", [.integer(appKey), .text(id)], connection)
    }

    /// Writes a token, and when Apple is told.
    func write(_ row: ExternalPurchaseRow, at now: Timestamp) throws(LedgerStorageError) {
        try connection.send(
            to: "external_purchases", "DELETE FROM external_purchases WHERE entry_key = ?1", [.integer(row.entryKey)])
        try connection.insert(ExternalPurchaseRow.table.insertion, row.values)
        let work = WorkTable(connection: connection)
        if try work.row(row.work)?.progress != nil {
            // A report may have been sent: its outcome is asked for, whatever is stated meanwhile.
            try work.schedule(row.work, at: now, since: now)
        } else if let next = row.nextAt {
            try work.schedule(row.work, at: next, since: now)
        } else {
            try work.delete(row.work)
        }
    }

    func items(of row: ExternalPurchaseRow) throws(LedgerStorageError) -> [ExternalItemRow] {
        try ExternalItemRow.all("WHERE entry_key = ?1 ORDER BY line_item_id", [.integer(row.entryKey)], connection)
    }

    /// The line items of the next report, in its order.
    func waiting(of row: ExternalPurchaseRow, limit: Int) throws(LedgerStorageError) -> [ExternalItemRow] {
        try ExternalItemRow.all(
            "WHERE entry_key = ?1 AND waiting IS NOT NULL ORDER BY waiting LIMIT ?2",
            [.integer(row.entryKey), .integer(Int64(limit))], connection)
    }

    func item(_ id: String, appKey: Int64) throws(LedgerStorageError) -> ExternalItemRow? {
        try ExternalItemRow.first(
            "WHERE app_key = ?1 AND line_item_id = ?2", [.integer(appKey), .text(id)], connection)
    }

    func write(_ item: ExternalItemRow) throws(LedgerStorageError) {
        try connection.send(
            to: "external_line_items",
            """
            INSERT INTO external_line_items (app_key, line_item_id, entry_key, content, reported, waiting)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (app_key, line_item_id) DO UPDATE SET content = ?4, reported = ?5, waiting = ?6
            """, item.values)
    }
}

/// An external purchase token.
struct ExternalPurchaseRow: TableRow {
    static let table = Table(
        "external_purchases", key: nil,
        columns: [
            "entry_key", "app_key", "environment", "external_id", "bundle_id", "token_type", "token_created_at",
            "expires_at",
            "is_stated", "is_duplicate", "token_due_at", "items_since", "is_overdue", "status", "request_id",
            "refused_request", "is_refused", "answer_entry",
        ])

    /// The entry that named it first.
    let entryKey: Int64
    let appKey: Int64
    let environment: Int64
    let externalID: String
    var bundleID: String?
    var tokenType: String?
    var createdAt: Timestamp?
    var expiresAt: Timestamp?
    /// Whether the app's backend stated it.
    var isStated = false
    var isDuplicate = false
    /// When a report that it has no line items is due; it counts until Apple accepted any report, and then for one that
    /// is found to be a duplicate.
    var tokenDueAt: Timestamp?
    /// Since when line items wait for a report.
    var itemsSince: Timestamp?
    /// Whether it was told that the report is late.
    var isOverdue = false
    /// What Apple accepted last.
    var status: ExternalReportStatus?
    /// The id of the last report with an answer.
    var requestID: String?
    /// The id of a report that Apple refused: the corrected one has the same.
    var refusedRequest: String?
    /// Whether Apple refused the last report, and nothing was stated since.
    var isRefused = false
    /// The last answer.
    var answerEntry: Int64?

    init(entryKey: Int64, appKey: Int64, environment: Int64, externalID: String) {
        (self.entryKey, self.appKey, self.environment) = (entryKey, appKey, environment)
        self.externalID = externalID
    }

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        entryKey = try reader.integer()
        appKey = try reader.integer()
        environment = try reader.integer()
        externalID = try reader.text()
        bundleID = try reader.optionalText()
        tokenType = try reader.optionalText()
        createdAt = try reader.optionalTime()
        expiresAt = try reader.optionalTime()
        isStated = try reader.flag()
        isDuplicate = try reader.flag()
        tokenDueAt = try reader.optionalTime()
        itemsSince = try reader.optionalTime()
        isOverdue = try reader.flag()
        status = try reader.optionalText().flatMap { ExternalReportStatus(rawValue: $0) }
        requestID = try reader.optionalText()
        refusedRequest = try reader.optionalText()
        isRefused = try reader.flag()
        answerEntry = try reader.optionalInteger()
    }

    var values: [LedgerValue] {
        [
            .integer(entryKey), .integer(appKey), .integer(environment), .text(externalID), .text(bundleID),
            .text(tokenType), .time(createdAt), .time(expiresAt), .flag(isStated), .flag(isDuplicate),
            .time(tokenDueAt),
            .time(itemsSince), .flag(isOverdue), .text(status?.rawValue), .text(requestID),
            .text(refusedRequest), .flag(isRefused), .integer(answerEntry),
        ]
    }

    var work: WorkKey { WorkKey(.externalPurchase, appKey: appKey, environment: environment, subject: externalID) }

    /// When Apple is to be told something; `nil` if it knows everything.
    var dueAt: Timestamp? {
        let isTold = status.map { $0 == .lineItems || $0 == .duplicate || !isDuplicate } ?? false
        let token = isTold ? nil : tokenDueAt
        return [token, itemsSince].compactMap(\.self).min()
    }

    /// When a report that is not accepted is late.
    var overdueAt: Timestamp? { dueAt?.adding(milliseconds: ExternalPurchase.lateAfter, times: 1) }

    /// When a server works on it: a refused report waits for a corrected statement, and only becomes late.
    fileprivate var nextAt: Timestamp? { isRefused ? (isOverdue ? nil : overdueAt) : dueAt }
}

/// A line item, as it was stated last.
struct ExternalItemRow: TableRow {
    static let table = Table(
        "external_line_items", key: nil,
        columns: ["app_key", "line_item_id", "entry_key", "content", "reported", "waiting"])

    let appKey: Int64
    let id: String
    /// The first entry of its token.
    let entryKey: Int64
    /// `ExternalLineItem.content`.
    var content: String
    /// The digest of the content that Apple accepted last; empty if Apple has the item from elsewhere.
    var reported: String?
    /// The place in the order of what Apple is to be told; `nil` if it is not.
    private(set) var waiting: Int64?

    init(appKey: Int64, id: String, entryKey: Int64, content: String) {
        (self.appKey, self.id, self.entryKey, self.content) = (appKey, id, entryKey, content)
    }

    init(_ reader: inout RowReader) throws(LedgerStorageError) {
        appKey = try reader.integer()
        id = try reader.text()
        entryKey = try reader.integer()
        content = try reader.text()
        reported = try reader.optionalText()
        waiting = try reader.optionalInteger()
    }

    var values: [LedgerValue] {
        [.integer(appKey), .text(id), .integer(entryKey), .text(content), .text(reported), .integer(waiting)]
    }

    static func digest(_ content: String) -> String {
        SHA256.hash(data: Array(content.utf8)).prefix(16).hexadecimal
    }

    var isReported: Bool { reported == Self.digest(content) }

    /// Notes whether Apple has to be told: an item that is withdrawn before it was reported is not.
    ///
    /// A sale comes before what refers to it, and what refers to a sale is withdrawn before it.
    ///
    /// - Parameter place: orders what is stated now behind everything that was stated before.
    mutating func note(place: Int64 = 0) {
        let isWithdrawn = content.contains("\"erroneouslySubmitted\":true")
        guard !isReported, reported != nil || !isWithdrawn else { return waiting = nil }
        let rank: Int64 =
            content.contains("\"eventType\":\"REFUND\"") ? 2 : content.contains("\"referenceLineItemId\":") ? 1 : 0
        waiting = (isWithdrawn ? -rank : rank) << 56 | (waiting ?? place) & (1 << 56 - 1)
    }
}
