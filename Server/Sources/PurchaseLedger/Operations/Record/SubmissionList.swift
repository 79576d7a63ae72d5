import Foundation
import PurchaseVerification

/// Claims of an app, newest first; with the filter of the App Store's answer, in the order of the answers.
public struct SubmissionList: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    /// The maximum number of claims that a page reads, or the page's limit if that is higher. With a filter that has no
    /// index of its own, such as a customer's rejected claims, a page can be shorter than its limit; the next page
    /// continues.
    private static let readClaims = 512
    private static let pageAfterFirst = 64

    public var app: String
    public var filter: SubmissionFilter
    /// The position at which the previous page ended.
    public var cursor: JournalCursor?
    public var limit: Int

    /// A page of claims.
    public init(app: String, filter: SubmissionFilter = SubmissionFilter(), cursor: JournalCursor? = nil, limit: Int) {
        self.app = app
        self.filter = filter
        self.cursor = cursor
        self.limit = limit
    }

    /// A page, and the start of the next one; `nil` if this is the last. A page can be shorter than the limit, or
    /// empty, although there is a next one: filters without an index of their own are applied to the page.
    public struct Answer: Sendable {
        public var submissions: [SubmissionRecord]
        public var next: JournalCursor?
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        let selections = try selections(reader, app)
        let count = max(1, limit)
        var found: [(record: SubmissionRecord, place: JournalCursor)] = []
        var place = cursor ?? JournalCursor(at: filter.to ?? Timestamp(millisecondsSince1970: .max), key: .min)
        var readCount = 0
        while found.count <= count {
            guard readCount < max(count, Self.readClaims) else {
                return Answer(submissions: found.map(\.record), next: place)
            }
            // First as many as the limit; if the filter excludes claims, more at a time.
            let size = readCount == 0 ? count + 1 : max(count + 1, Self.pageAfterFirst)
            let rows = try page(selections, app, after: place, limit: size, reader)
            for row in rows {
                place = JournalCursor(at: row.at, key: row.key)
                guard let row = try claim(of: row, reader) else { continue }
                // Most exclusions are decided by the columns alone.
                guard matches(row) else { continue }
                let record = try SubmissionRecord(row, app: app.settings.id, reader)
                if matches(record) { found.append((record, place)) }
            }
            readCount += rows.count
            if rows.count < size, found.count <= count {
                return Answer(submissions: found.map(\.record), next: nil)
            }
        }
        let page = found.prefix(count)
        return Answer(submissions: page.map(\.record), next: page.last?.place)
    }

    /// The claim of a row, which can be an answer about it; `nil` if that was erased.
    private func claim(of row: JournalRow, _ reader: LedgerTransaction) throws -> JournalRow? {
        guard filter.appStore != nil else { return row }
        guard let details = try row.details.map(AppStoreAnswerDetails.init(encoded:)),
            let id = UUID(uuidString: details.claim)
        else { return nil }
        return try JournalTable(connection: reader.connection).row(id: id)
    }

    /// Claims of all selections after a position, newest first.
    private func page(
        _ selections: [JournalSelection], _ app: RegistryApp, after place: JournalCursor, limit: Int,
        _ reader: LedgerTransaction
    ) throws(LedgerStorageError) -> [JournalRow] {
        let (table, from) = (
            JournalTable(connection: reader.connection), filter.from ?? Timestamp(millisecondsSince1970: .min)
        )
        var rows: [JournalRow] = []
        for selection in selections {
            rows += try table.claims(selection, app: app.key, from: from, cursor: place, limit: Int64(limit))
        }
        return Array(rows.sorted { ($0.at, $0.key) > ($1.at, $1.key) }.prefix(limit))
    }

    /// The narrowest indexes for the filter; none if nothing can match it. A claim is in one selection only.
    private func selections(_ reader: LedgerTransaction, _ app: RegistryApp) throws -> [JournalSelection] {
        if let answer = filter.appStore { return [.appStoreAnswer(answer.code.rawValue)] }
        let isAccepted = filter.code.map { $0.isSame(as: DecisionCode.accepted.rawValue) }
        let verdict = filter.verdict ?? filter.code.map(Verdict.init(code:))
        if let isAccepted, isAccepted != (verdict == .accepted) { return [] }
        if let code = filter.code, let verdict, Verdict(code: code) != verdict { return [] }
        if let id = filter.transactionID {
            // One for each environment, because another app can have a transaction with this id.
            let originals = OriginalsTable(connection: reader.connection)
            return try reader.transactions.rows(id: id).filter { row throws(LedgerStorageError) in
                try originals.row(row.originalKey).appKey == app.key
            }.map { .transaction($0.key) } + [.naming(id)]
        }
        if let id = filter.orderID {
            guard let order = try reader.orders.row(id: id), order.appKey == app.key else { return [] }
            return [.order(order.key)]
        }
        if let name = filter.customerID {
            return try reader.customers.named(name, appKey: app.key)
                .map { [.customer($0.key), .refusalsOf(customer: $0.key)] } ?? []
        }
        if let code = filter.code, isAccepted == false { return [.code(code), .refusals] }
        return switch verdict {
        case .accepted: [.accepted]
        case .rejected: [.rejected, .refusals]
        case .undetermined: [.code(DecisionCode.appStorePending.rawValue)]
        case nil: [.accepted, .rejected, .refusals]
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
