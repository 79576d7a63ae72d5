public import PurchaseVerification

/// What was recorded of an app in the hours of a period: claims by code, refusals, notifications by type,
/// answers by their time. What is not
/// sealed yet, usually the last second, is not counted.
public struct HourlyCounts: LedgerQuery {
    public static let access = LedgerReadAccess.lists

    public var app: String
    public var from: Timestamp
    public var to: Timestamp

    /// The longest period, in milliseconds: 31 days.
    public static let longest: Int64 = 31 * 86_400_000

    /// The counts of the hours that begin in a period; of a longer one, of its last 31 days.
    public init(app: String, from: Timestamp, to: Timestamp) {
        let earliest = to.millisecondsSince1970 - Self.longest
        self.app = app
        self.from = Timestamp(millisecondsSince1970: max(from.millisecondsSince1970, earliest))
        self.to = to
    }

    public func answer(_ reader: LedgerTransaction) throws -> [HourlyCount] {
        try HourlyCountsTable(connection: reader.connection).counts(of: app, from: from, to: to)
    }
}

/// Adds how long answers of a server took to the counts of an hour.
public struct AddAnswerTimes: LedgerOperation {
    /// The number of answers of an app, by the bound of their time.
    public var counts: [String: [AnswerTimeBound: Int64]]

    /// - Parameter counts: by the id of the app.
    public init(_ counts: [String: [AnswerTimeBound: Int64]]) { self.counts = counts }

    public var locks: LedgerLocks { .parts([]) }

    public func perform(_ transaction: LedgerTransaction) throws {
        let table = HourlyCountsTable(connection: transaction.connection)
        let hour = HourlyCount.hour(of: transaction.now)
        // In one order, so that two servers never wait for each other.
        for (app, times) in counts.sorted(by: { $0.key < $1.key }) {
            for (bound, count) in times.sorted(by: { $0.key < $1.key }) {
                try table.add(
                    HourlyCount(hour: hour, kind: AnswerTimeBound.kind, code: bound.code, count: count), app: app)
            }
        }
    }
}
