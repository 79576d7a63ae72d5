import PurchaseVerification

/// Refund requests of an app, the newest first.
public struct RefundRequestList: LedgerQuery {
    public static let access = LedgerReadAccess.lists
    /// The maximum number of requests that a page reads. With a state that few have, a page can be shorter than its
    /// limit; the next page continues.
    static let mostRows = 512

    public var app: String
    public var state: ConsumptionRequestState?
    /// The position at which the previous page ended.
    public var before: Int64
    public var limit: Int

    /// A page of requests.
    public init(app: String, state: ConsumptionRequestState? = nil, before: Int64 = .max, limit: Int) {
        self.app = app
        self.state = state
        self.before = before
        self.limit = limit
    }

    /// A page, and the start of the next one; `nil` if this is the last.
    public struct Answer: Sendable {
        public var requests: [RefundRequest]
        public var next: Int64?
    }

    public func answer(_ reader: LedgerTransaction) throws -> Answer {
        let app = try reader.app(app)
        let count = state == nil ? min(max(1, limit) + 1, Self.mostRows) : Self.mostRows
        let rows = try ConsumptionRequestsTable(connection: reader.connection)
            .page(appKey: app.key, before: before, limit: Int64(count))
        var found: [RefundRequest] = []
        var place = before
        for row in rows {
            guard found.count < max(1, limit) else { return Answer(requests: found, next: place) }
            place = row.entryKey
            if state == nil || row.state(at: reader.now) == state { found.append(try RefundRequest(row, reader)) }
        }
        return Answer(requests: found, next: rows.count < count ? nil : place)
    }
}
