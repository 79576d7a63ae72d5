public import PurchaseAPI
import PurchaseVerification

/// Records an external purchase token that an app's backend received, or line items of one.
public struct StateExternalPurchase: LedgerOperation {
    public var app: String
    public var id: String
    /// The token; `nil` for one that is known.
    public var token: ExternalPurchase?
    public var isDuplicate: Bool
    public var lineItems: [ExternalLineItem]

    /// A token.
    public init(app: String, token: ExternalPurchase, isDuplicate: Bool) {
        (self.app, id, self.token, self.isDuplicate, lineItems) = (app, token.id, token, isDuplicate, [])
    }

    /// Line items of a known token.
    public init(app: String, id: String, lineItems: [ExternalLineItem]) {
        (self.app, self.id, token, isDuplicate, self.lineItems) = (app, id, nil, false, lineItems)
    }

    public var locks: LedgerLocks { .parts(Set([.work, .external(id)] + lineItems.map { .external($0.id) })) }

    /// - Throws: `external_purchase_unknown`, `line_item_conflict`.
    public func perform(_ transaction: LedgerTransaction) throws -> (message: ExternalPurchaseMessage, isReplayed: Bool)
    {
        let (app, table) = (try transaction.app(app), ExternalPurchasesTable(connection: transaction.connection))
        let known = try table.row(id, appKey: app.key)
        guard known != nil || token != nil else {
            throw LedgerRefusal(.externalPurchaseUnknown, expected: "a token that was stated or notified", found: id)
        }
        let items = try lineItems.compactMap { try new($0, of: known, table, app) }
        let isKnown = known.map { row in token == nil || row.isStated && row.isDuplicate == isDuplicate } ?? false
        // A statement after a refusal has the report sent again, also if it is the same.
        if let known, isKnown, items.isEmpty, !known.isRefused {
            return (try message(known, app, transaction), true)
        }
        let details = ExternalStatedDetails(
            id: id, token: token, isDuplicate: isDuplicate ? true : nil,
            lineItems: items.isEmpty ? nil : items)
        guard let row = try details.run(try transaction.append(transaction.draft(app), details)) else {
            throw LedgerStorageError(.other, "the token \(id) was not written")
        }
        return (try message(row, app, transaction), false)
    }

    /// The token, with the line items that were stated.
    private func message(
        _ row: ExternalPurchaseRow, _ app: RegistryApp, _ transaction: LedgerTransaction
    ) throws -> ExternalPurchaseMessage {
        let table = ExternalPurchasesTable(connection: transaction.connection)
        let items = try lineItems.compactMap { try table.item($0.id, appKey: app.key) }
        return try ExternalPurchaseMessage(row, transaction, items: items.isEmpty ? nil : items)
    }

    /// What is new in an item.
    private func new(
        _ item: ExternalLineItem, of row: ExternalPurchaseRow?, _ table: ExternalPurchasesTable, _ app: RegistryApp
    ) throws -> ExternalStatedDetails.Item? {
        guard lineItems.last(where: { $0.id.isSame(as: item.id) }) == item else {
            throw LedgerRefusal(.lineItemConflict, expected: "each lineItemId once", found: item.id)
        }
        guard let known = try table.item(item.id, appKey: app.key) else {
            // Apple may have it from elsewhere, or from what was reported after the backup of this database.
            return .init(id: item.id, content: item.content, isAtApple: item.isRestatement ? true : nil)
        }
        guard known.entryKey == row?.entryKey else {
            throw LedgerRefusal(
                .lineItemConflict, expected: "a lineItemId that is unique for the app",
                found: "\(item.id) of another token")
        }
        guard !known.content.isSame(as: item.content) else { return nil }
        guard item.isRestatement else {
            throw LedgerRefusal(
                .lineItemConflict, expected: "the first statement of \(item.id), or restatement: true",
                found: "another content")
        }
        return .init(id: item.id, content: item.content)
    }
}

/// `external_stated`: what a backend stated.
struct ExternalStatedDetails: LedgerInput {
    static var kind: JournalKind { .externalStated }
    var id: String
    var token: ExternalPurchase?
    var isDuplicate: Bool?
    var lineItems: [Item]?

    struct Item: Codable, Sendable {
        var id: String
        var content: String
        /// Whether it corrects what only Apple knows.
        var isAtApple: Bool?
    }

    /// - Returns: the token; `nil` if it is not known.
    @discardableResult
    func run(_ write: EntryWrite) throws -> ExternalPurchaseRow? {
        guard !write.isOfEntriesAlone else { return nil }
        let (table, now) = (ExternalPurchasesTable(connection: write.connection), write.transaction.now)
        guard
            var row = try table.row(id, appKey: write.app.key)
                ?? token.map({ try ExternalPurchaseRow(first: $0, write) })
        else {
            try write.impossible("the token is not known")
            return nil
        }
        if let token {
            // It has a sale after all, or its own end.
            if row.isDuplicate, isDuplicate != true { row.tokenDueAt = nil }
            row.add(token, at: now)
            (row.isStated, row.isDuplicate) = (true, isDuplicate ?? false)
            // Another token has what is sold.
            if row.isDuplicate { row.tokenDueAt = now }
        }
        for (index, item) in (lineItems ?? []).enumerated() {
            var written =
                try table.item(item.id, appKey: write.app.key)
                ?? ExternalItemRow(appKey: write.app.key, id: item.id, entryKey: row.entryKey, content: item.content)
            written.content = item.content
            if item.isAtApple == true { written.reported = "" }
            written.note(place: write.entry.key << 8 + Int64(index))
            try table.write(written)
        }
        row.isRefused = false
        try row.noteItems(table, at: now)
        try table.write(row, at: now)
        return row
    }
}

extension ExternalPurchaseRow {
    init(first token: ExternalPurchase, _ write: EntryWrite) throws(LedgerStorageError) {
        let environment = ExternalPurchase.environment(ofID: token.id)
        self.init(
            entryKey: write.entry.key, appKey: write.app.key,
            environment: try write.transaction.environments.keyToWrite(of: environment), externalID: token.id)
    }

    /// Adds what is not known of a token. Without a report it is due when it ends, or a day before Apple asks, but not
    /// before its backend had a day to state line items.
    mutating func add(_ token: ExternalPurchase, at now: Timestamp) {
        (bundleID, tokenType) = (bundleID ?? token.bundleID, tokenType ?? token.tokenType)
        createdAt = createdAt ?? token.createdAt.map { Timestamp(millisecondsSince1970: $0) }
        expiresAt = expiresAt ?? token.expiresAt.map { Timestamp(millisecondsSince1970: $0) }
        tokenDueAt =
            tokenDueAt
            ?? max(
                expiresAt ?? (createdAt ?? now).adding(milliseconds: ExternalPurchase.reportedAfter, times: 1),
                now.adding(milliseconds: ExternalPurchase.answeredAfter, times: 1))
    }

    mutating func noteItems(_ table: ExternalPurchasesTable, at now: Timestamp) throws(LedgerStorageError) {
        itemsSince = try table.waiting(of: self, limit: 1).isEmpty ? nil : itemsSince ?? now
    }
}

extension NotificationEvents {
    /// Records the token of a notification, and tells that a report is wanted.
    func writeExternalPurchase(_ token: ExternalPurchase, _ details: NotificationDetails, _ write: EntryWrite) throws {
        let table = ExternalPurchasesTable(connection: transaction.connection)
        var row = try table.row(token.id, appKey: app.key) ?? ExternalPurchaseRow(first: token, write)
        func isOf(_ subtype: NotificationSubtype) -> Bool { subtype.rawValue.isSame(as: details.subtype) }
        if isOf(.unreported) {
            // Apple asks after the time at which an unknown token would have been due.
            let due = transaction.now.adding(milliseconds: ExternalPurchase.answeredAfter, times: 1)
            row.tokenDueAt = min(row.tokenDueAt ?? due, due)
        }
        row.add(token, at: transaction.now)
        // Apple reminds of a token each month, also of one of which it has everything.
        if row.dueAt != nil, isOf(.unreported) || isOf(.activeTokenReminder) {
            var event = LedgerEvents(transaction, app: app, entry: entry).event(.externalPurchaseTokenDue)
            (event.environment, event.figures.submission) = (row.environment, row.externalID)
            (event.figures.reason, event.figures.until) = (details.subtype, row.dueAt)
            try transaction.tell(event, to: nil)
        }
        try table.write(row, at: transaction.now)
    }
}
